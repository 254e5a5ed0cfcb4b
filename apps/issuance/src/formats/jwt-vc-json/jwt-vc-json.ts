import { Injectable } from '@nestjs/common';
import type { JwtVcConfiguration, JwtVcConfigurationRequest, ErrorDetail } from '@attestry/contracts';
import { PROOF_ALGORITHMS } from '../proof-types.js';
import type { Signer } from '@attestry/keys';
import { CREDENTIALS_V1 } from '@attestry/linked-data';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { mapClaims, type UserObject } from '../map-claims.js';
import type { Format, FormatMetadata, PinnedFacts, UnsignedCredential } from '../format.js';
import { LIST_SIZE } from '../../status-lists/status-list/packed-statuses.js';
import { tokenStatus } from '../../status-lists/status-list/token-status-list.js';
import { dateTime, validityOf } from '../../settings/credential-configuration/validity.js';
import { vcContentOf, vcFaults, vcRecordOf, type VcContent } from '../vc-configuration.decisions.js';
import { describing, typesOf, vcMetadataOf } from '../vc-credential.js';

const ALG_OF = { 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;

type JwtVc = PinnedConfiguration<VcContent>;

interface UnsignedJwtVc extends UnsignedCredential {
  /** JWS Signing Input (RFC 7515 §5.1). */
  input: string;
}

/** W3C VCDM 1.1 as a JWT (§6.3.1), OID4VCI Appendix A.1.1. */
@Injectable()
export class JwtVcJson implements Format<VcContent, UnsignedJwtVc> {
  readonly format = 'jwt_vc_json';
  readonly profile = 'jwt-vc';
  readonly resources: Format['resources'] = {
    signer: { kind: 'pinnedKey', algorithms: ['P-256', 'Ed25519'] },
    status: { kind: 'tokenStatusList', tokenType: 'jwt', size: LIST_SIZE },
  };
  readonly proofAlgorithms = PROOF_ALGORITHMS;
  /** Headers by verification method: identical for every credential of a key. */
  private readonly headers = new Map<string, string>();

  faultsOf(request: JwtVcConfigurationRequest): ErrorDetail[] {
    return vcFaults(request);
  }

  async contentOf(request: JwtVcConfigurationRequest): Promise<VcContent> {
    return vcContentOf(request, []);
  }

  recordOf(configuration: JwtVc): JwtVcConfiguration {
    return vcRecordOf(configuration);
  }

  metadataOf(configuration: JwtVc): FormatMetadata {
    return vcMetadataOf(configuration, { type: typesOf(configuration) }, [ALG_OF[configuration.issuerKey.algorithm]]);
  }

  /** A JWT expresses all JSON. */
  async check(): Promise<undefined> {}

  mapClaims({ content }: JwtVc, from: UserObject): Record<string, unknown> {
    return mapClaims(content.claimMappings, from);
  }

  prepare({ configuration, claims, holder, time, credentialId, status }: PinnedFacts<VcContent>): UnsignedJwtVc {
    const { content, issuerKey } = configuration;
    const { validFrom, validUntil } = validityOf(time, content.expiresIn);
    const id = `urn:uuid:${credentialId}`;
    const issuer = issuerKey.did;
    const payload = {
      iss: issuer,
      sub: holder.did,
      nbf: validFrom.getTime() / 1000,
      iat: validFrom.getTime() / 1000,
      ...(validUntil && { exp: validUntil.getTime() / 1000 }),
      jti: id,
      ...(status && { status: tokenStatus(status) }),
      vc: {
        '@context': [CREDENTIALS_V1],
        id,
        type: typesOf(configuration),
        issuer: { ...content.issuer, id: issuer },
        issuanceDate: dateTime(validFrom),
        ...(validUntil && { expirationDate: dateTime(validUntil) }),
        credentialSubject: { ...claims, id: holder.did },
        ...describing(configuration),
      },
    };
    const header = this.headers.get(issuerKey.verificationMethod) ?? this.makeHeader(issuerKey);
    return {
      credentialId,
      holderKey: holder.publicJwk,
      validFrom,
      ...(validUntil && { validUntil }),
      input: `${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`,
    };
  }

  async sign(_tenantId: string, credentials: readonly UnsignedJwtVc[], signer: Signer): Promise<string[]> {
    const signed: string[] = [];
    for (const { input } of credentials)
      signed.push(`${input}.${Buffer.from(signer.sign(Buffer.from(input, 'latin1'))).toString('base64url')}`);
    return signed;
  }

  private makeHeader({ algorithm, verificationMethod }: JwtVc['issuerKey']): string {
    const header = { alg: ALG_OF[algorithm], typ: 'JWT', kid: verificationMethod };
    const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
    if (this.headers.size >= 1000) this.headers.clear();
    this.headers.set(verificationMethod, encoded);
    return encoded;
  }
}
