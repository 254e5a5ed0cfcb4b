import { Inject } from '@nestjs/common';
import { revokeDocumentSigner, type ClientContext, type RevokedDocumentSigner } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { Crls } from '../document-signers/crls.js';
import { keysDestroyedBy } from '../mobile-certificates/destroyed-keys.decisions.js';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import { isUploadDue, signsCrls } from '../mobile-certificates/revocation-list.decisions.js';
import { requireSigner, revokeSigner } from '../mobile-certificates/signer.decisions.js';
import type { MobileCertificatesEvent } from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
} from '../mobile-certificates/mobile-certificates.state.js';

@Operation(revokeDocumentSigner)
export class RevokeDocumentSigner {
  constructor(
    private readonly streams: Streams,
    private readonly crls: Crls,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params }: RequestOf<typeof revokeDocumentSigner>,
    context: ClientContext,
  ): Promise<RevokedDocumentSigner> {
    const { id: tenantId } = context.tenant;
    const { state, events } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(tenantId),
      (before, { revision }) => this.revoke(tenantId, before, { id: params.id, revision }),
      eventContext(context),
    );
    // After a failure DestroyedCertificateKeys does it.
    await this.signingKeys.destroySigningKeys(tenantId, keysDestroyedBy(events));
    const signer = requireSigner(state, params.id);
    const crlDue = isUploadDue(requireIaca(state, signer.iacaId), this.clock.now());
    return { revoked: true, revocationDate: signer.revokedAt!, crlDue };
  }

  /** The CRL of a managed IACA is published with the revocation. */
  private async revoke(
    tenantId: string,
    before: MobileCertificatesState,
    { id, revision }: { id: string; revision: number },
  ): Promise<MobileCertificatesEvent[]> {
    const now = this.clock.now();
    const events = revokeSigner(before, id, now);
    const state = events.reduce(mobileCertificates.evolve, before);
    const iaca = requireIaca(state, requireSigner(state, id).iacaId);
    if (!events.length || !signsCrls(iaca, now)) return events;
    const crl = await this.crls.sign(tenantId, iaca, revision + events.length + 1);
    return [...events, { type: 'CrlPublished', data: crl }];
  }
}
