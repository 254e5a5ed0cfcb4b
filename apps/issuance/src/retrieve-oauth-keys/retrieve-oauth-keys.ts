import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveOauthKeys } from '@attestry/contracts';
import { KeyVault, type PublicJwk } from '@attestry/keys';
import { tenantOf, type RequestOf } from '@attestry/service-kit';

export class RetrieveOauthKeys {
  constructor(
    readonly request: RequestOf<typeof retrieveOauthKeys>,
    readonly context: OperationContext,
  ) {}
}

type PublishedKey = PublicJwk & { kid: string; use: 'sig'; alg: 'ES256' | 'EdDSA' };

/** RFC 7517 §5. Access tokens are opaque, so the set is empty until the tenant's authorization server signs something. */
@QueryHandler(RetrieveOauthKeys)
export class RetrieveOauthKeysHandler implements IQueryHandler<RetrieveOauthKeys> {
  constructor(private readonly vault: KeyVault) {}

  async execute({ context }: RetrieveOauthKeys): Promise<{ keys: PublishedKey[] }> {
    const keys = await this.vault.listSigningKeys(tenantOf(context).id, 'token');
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
