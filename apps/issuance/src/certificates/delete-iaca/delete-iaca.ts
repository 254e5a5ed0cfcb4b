import { deleteIaca, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { keysDestroyedBy } from '../mobile-certificates/destroyed-keys.decisions.js';
import { deleteIaca as decide } from '../mobile-certificates/iaca.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(deleteIaca)
export class DeleteIaca {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
  ) {}

  async execute({ params }: RequestOf<typeof deleteIaca>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const { events } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(tenantId),
      (state) => decide(state, params.id),
      eventContext(context),
    );
    // After a failure DestroyedCertificateKeys does it.
    await this.signingKeys.destroySigningKeys(tenantId, keysDestroyedBy(events));
  }
}
