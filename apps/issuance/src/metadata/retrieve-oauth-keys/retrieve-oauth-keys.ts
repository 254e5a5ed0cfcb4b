import { retrieveOauthKeys, type PublicContext } from '@attestry/contracts';
import { SigningKeys, type PublicJwk } from '@attestry/keys';
import { Operation } from '@attestry/service-kit';

type PublishedKey = PublicJwk & { kid: string; use: 'sig'; alg: 'ES256' | 'EdDSA' };

/** RFC 7517 §5. Access tokens are opaque, so the set is empty until the tenant's authorization server signs something. */
@Operation(retrieveOauthKeys)
export class RetrieveOauthKeys {
  constructor(private readonly signingKeys: SigningKeys) {}

  async execute(_request: unknown, context: PublicContext): Promise<{ keys: PublishedKey[] }> {
    const keys = await this.signingKeys.listSigningKeys(context.tenant.id, 'token');
    return {
      keys: keys.map(({ keyId, publicJwk, algorithm }) => ({
        ...publicJwk,
        kid: keyId,
        use: 'sig',
        alg: algorithm === 'P-256' ? 'ES256' : 'EdDSA',
      })),
    };
  }
}
