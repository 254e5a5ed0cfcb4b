import { Injectable } from '@nestjs/common';
import { AppError, retrieveCredentialDocument, type CallContext } from '@attestry/contracts';
import { isErased, KeyNotFound, SealBroken, Sealing } from '@attestry/keys';
import { PlatformConfig, ServiceClient } from '@attestry/service-kit';
import type { ScheduledDelivery } from '../webhook-delivery/webhook-delivery.events.js';

export type DeliveredCredential =
  | { state: 'none' }
  | { state: 'open'; value: unknown; length: number }
  | { state: 'erased' }
  | { state: 'broken'; error: string };

/** The credential of a delivery, loaded from issuance when it is needed (ADR 0070). */
@Injectable()
export class CredentialDocuments {
  constructor(
    private readonly client: ServiceClient,
    private readonly sealing: Sealing,
    private readonly config: PlatformConfig,
  ) {}

  /** A missing document or key and failed decryption are permanent. @throws when issuance or the key store is unavailable */
  async open(
    tenantId: string,
    { sealedCredential, payload }: ScheduledDelivery,
    context: Pick<CallContext, 'requestId' | 'operation'>,
  ): Promise<DeliveredCredential> {
    if (!sealedCredential) return { state: 'none' };
    try {
      const { sessionId } = sealedCredential;
      const sealed = await this.load(tenantId, sessionId, String(payload['credentialId']), context);
      const opened = await this.sealing.openSealed(tenantId, 'delivery', sealed);
      return isErased(opened)
        ? { state: 'erased' }
        : { state: 'open', value: JSON.parse(opened) as unknown, length: opened.length };
    } catch (error) {
      if (error instanceof KeyNotFound) return { state: 'broken', error: 'credential-key-missing' };
      if (error instanceof SealBroken) return { state: 'broken', error: 'credential-seal-broken' };
      if (error instanceof AppError && error.kind === 'notFound')
        return { state: 'broken', error: 'credential-missing' };
      throw error;
    }
  }

  private async load(
    tenantId: string,
    sessionId: string,
    credentialId: string,
    { requestId, operation }: Pick<CallContext, 'requestId' | 'operation'>,
  ): Promise<string> {
    const deadline = Date.now() + this.config.operationTimeoutMs;
    const body = { tenantId, sessionId, credentialId };
    const { sealed } = await this.client.call(retrieveCredentialDocument, { body }, { requestId, operation, deadline });
    return sealed;
  }
}
