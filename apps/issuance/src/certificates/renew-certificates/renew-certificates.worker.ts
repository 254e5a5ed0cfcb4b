import { Inject, Injectable } from '@nestjs/common';
import { leaseFence, Leases, type Clock } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { CLOCK, DueRowsJob, Health, LOGGER, serviceContext, type DueRows, type Logger } from '@attestry/service-kit';
import { CertificateRenewals } from './certificate-renewals.js';
import { dueCertificates, type DueCertificate, type DueCertificateTables } from './due-certificates.projection.js';

const NAME = 'issuance.certificate-renewal';
/** Pause between runs, and the shortest time between two attempts at one of them: what is due is still valid, for a day at least. */
const PAUSE_MS = 60_000;
/** Until the signer of a domain that the tenant has lost is due again. */
const WITHDRAWN_MS = 86_400_000;

/** Replaces signers, CRLs and encryption keys that are due, and the CA of issuer signers, and destroys private keys a day after their last use. */
@Injectable()
export class RenewCertificates extends DueRowsJob<DueCertificateTables> {
  constructor(
    readModels: ReadModels,
    leases: Leases,
    renewals: CertificateRenewals,
    health: Health,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    const certificates: DueRows<DueCertificate> = {
      table: 'issuance_due_certificates',
      key: ['tenant_id', 'kind', 'name'],
      order: 'due_at',
      dueUpTo: (now) => now,
      async handle(row, { lease }) {
        const { tenant_id: tenantId, kind } = row;
        // Not under a domain that the tenant has lost, until it is verified again.
        if (await renewals.isWithdrawn(row)) return new Date(clock.now().getTime() + WITHDRAWN_MS);
        try {
          await renewals.renew(row, serviceContext(NAME, tenantId), leaseFence(leases, lease!));
        } catch (error) {
          // Without its keys the tenant was deleted.
          if (error instanceof KeyNotFound) return 'remove';
          throw error;
        }
        // The projection changes it: it tells a signer that replaces another one from the first one of its issuer. Any other row that was
        // renewed has another time, at the latest when the projection has followed.
        return kind === 'issuerSigner' ? 'keep' : 'remove';
      },
      failure: 'certificate not renewed',
      recovery: 'certificate no longer fails',
    };
    super(
      { readModels, leases, health, clock, logger },
      {
        name: NAME,
        failure: 'renewing certificates failed',
        pauseMs: PAUSE_MS,
        projection: dueCertificates,
        rows: [certificates],
      },
    );
  }
}
