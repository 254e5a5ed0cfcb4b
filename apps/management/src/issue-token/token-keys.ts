import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { JwkSet } from '@attestry/contracts';
import { KeyVault, PLATFORM, type Signer } from '@attestry/keys';

/** The keys that sign client access tokens: the platform's own, made at the first start. */
@Injectable()
export class TokenKeys implements OnModuleInit {
  private signer!: Signer;

  constructor(private readonly vault: KeyVault) {}

  async onModuleInit(): Promise<void> {
    const { keyId } = await this.vault.ensureSigningKey(PLATFORM, 'token', 'P-256');
    this.signer = await this.vault.signer(PLATFORM, keyId);
  }

  /** A JWT access token (RFC 9068 §2.1), compact. */
  sign(claims: object): string {
    const header = { alg: 'ES256', typ: 'at+jwt', kid: this.signer.keyId };
    const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${input}.${Buffer.from(this.signer.sign(Buffer.from(input))).toString('base64url')}`;
  }

  /** All of them, older ones too, for their tokens may still be alive. */
  async jwks(): Promise<JwkSet> {
    const keys = await this.vault.listSigningKeys(PLATFORM, 'token');
    return { keys: keys.map(({ keyId, publicJwk }) => ({ ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' })) };
  }
}
