import { Injectable } from '@nestjs/common';
import { AppError, releaseIssuerKey, type ServiceContext } from '@attestry/contracts';
import { ServiceClient } from '@attestry/service-kit';

/** Reservations of issuer keys in the DID service. */
@Injectable()
export class IssuerKeys {
  constructor(private readonly client: ServiceClient) {}

  /** A deleted configuration no longer keeps its DID from deletion. Again it changes nothing. @throws AppError */
  async release(
    tenantId: string,
    { did, configurationId }: { did: string; configurationId: string },
    call: Pick<ServiceContext, 'requestId' | 'operation' | 'deadline' | 'traceparent'>,
  ): Promise<void> {
    try {
      await this.client.call(releaseIssuerKey, { body: { tenantId, did, configurationId } }, call);
    } catch (error) {
      // The DID does not exist any more: nothing to release.
      if (!(error instanceof AppError && error.kind === 'notFound')) throw error;
    }
  }
}
