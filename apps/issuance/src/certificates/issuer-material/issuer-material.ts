import { Injectable } from '@nestjs/common';
import type { ClientContext } from '@attestry/contracts';
import { eventContext } from '@attestry/service-kit';
import { EncryptionKeys } from '../encryption-keys/encryption-keys.js';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';

/** Keys and certificates that an issuer of any format has from its first configuration on. */
@Injectable()
export class IssuerMaterial {
  constructor(
    private readonly issuerSigners: IssuerSigners,
    private readonly encryptionKeys: EncryptionKeys,
  ) {}

  /** The signer, which also signs the issuer metadata, and the key to which requests are encrypted. */
  async ensure(context: ClientContext): Promise<void> {
    const { id, baseUrl } = context.tenant;
    await this.issuerSigners.ensure(id, baseUrl, eventContext(context));
    await this.encryptionKeys.ensure(id, eventContext(context));
  }
}
