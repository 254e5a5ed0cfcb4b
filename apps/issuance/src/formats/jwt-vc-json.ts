import { Injectable } from '@nestjs/common';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { dateTime } from './validity.js';
import { describing, typesOf, type UnsignedCredential, type Format } from './format.js';

export const CREDENTIALS_V1 = 'https://www.w3.org/2018/credentials/v1';

const ALG_OF = { 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

/** W3C VCDM 1.1 as a JWT (§6.3.1), OID4VCI Appendix A.1.1. */
@Injectable()
export class JwtVcJson implements Format {
  readonly format = 'jwt_vc_json';
  readonly profile = 'jwt-vc';
  /** Headers by verification method: identical for every credential of a key. */
  private readonly headers = new Map<string, string>();

  async encode(_tenantId: string, credentials: readonly UnsignedCredential[]): Promise<string[]> {
    const signed: string[] = [];
    for (const credential of credentials) {
      const { configuration, signer, claims, holderDid, validFrom, validUntil } = credential;
      const id = `urn:uuid:${credential.credentialId}`;
      const issuer = configuration.issuerKey.did;
      const payload = {
        iss: issuer,
        sub: holderDid,
        nbf: validFrom.getTime() / 1000,
        iat: validFrom.getTime() / 1000,
        ...(validUntil && { exp: validUntil.getTime() / 1000 }),
        jti: id,
        vc: {
          '@context': [CREDENTIALS_V1],
          id,
          type: typesOf(configuration),
          issuer: { ...configuration.content.issuer, id: issuer },
          issuanceDate: dateTime(validFrom),
          ...(validUntil && { expirationDate: dateTime(validUntil) }),
          credentialSubject: { ...claims, id: holderDid },
          ...describing(configuration),
        },
      };
      const input = `${this.header(configuration)}.${encoded(payload)}`;
      signed.push(`${input}.${Buffer.from(signer.sign(Buffer.from(input, 'latin1'))).toString('base64url')}`);
    }
    return signed;
  }

  typeMember(configuration: ActiveConfiguration): Record<string, unknown> {
    return { credential_definition: { type: typesOf(configuration) } };
  }

  signingAlgorithms({ issuerKey }: ActiveConfiguration): string[] {
    return [ALG_OF[issuerKey.algorithm]];
  }

  claimPath(name: string): string[] {
    return ['credentialSubject', name];
  }

  private header({ issuerKey }: ActiveConfiguration): string {
    let header = this.headers.get(issuerKey.verificationMethod);
    if (header === undefined) {
      if (this.headers.size >= 1000) this.headers.clear();
      header = encoded({ alg: ALG_OF[issuerKey.algorithm], typ: 'JWT', kid: issuerKey.verificationMethod });
      this.headers.set(issuerKey.verificationMethod, header);
    }
    return header;
  }
}
