import { Inject } from '@nestjs/common';
import { updateIacaCrl, type ClientContext, type Iaca } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { refuseCertificateFaults } from '../certificate-keys/refuse-certificate-faults.js';
import { iacaView } from '../mobile-certificates/certificate-views.js';
import { requireIaca, requireUnmanaged } from '../mobile-certificates/iaca.decisions.js';
import { publishUploadedCrl } from '../mobile-certificates/revocation-list.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { derOf } from '../mobile-certificates/stored-x509.js';

@Operation(updateIacaCrl)
export class UpdateIacaCrl {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params, body }: RequestOf<typeof updateIacaCrl>, context: ClientContext): Promise<Iaca> {
    const { state } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(context.tenant.id),
      async (before) => {
        const iaca = requireUnmanaged(before, params.id);
        // A repeated call changes nothing: PUT is idempotent (RFC 9110 §9.2.2).
        if (iaca.crl?.crl === base64Of(body.crlPem)) return [];
        const { parseRevocationList } = await import('@attestry/certificates');
        const previous = iaca.crl && BigInt(iaca.crl.number);
        const parsed = await refuseCertificateFaults('crlPem', () =>
          parseRevocationList(body.crlPem, derOf(iaca), previous, this.clock.now()),
        );
        return publishUploadedCrl(before, params.id, {
          number: parsed.number.toString(),
          crl: Buffer.from(parsed.der).toString('base64'),
          thisUpdate: parsed.thisUpdate.toISOString(),
          nextUpdate: parsed.nextUpdate.toISOString(),
          revoked: parsed.revokedSerialNumbers,
        });
      },
      eventContext(context),
    );
    return iacaView(requireIaca(state, params.id), this.clock.now());
  }
}

const base64Of = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');
