import { Inject, Injectable } from '@nestjs/common';
import { Leases, type Clock, type EventContext, type Term } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { CLOCK, FailingRows, Health, LOGGER, PeriodicWork, serviceContext, type Logger } from '@attestry/service-kit';
import { Crls } from '../document-signers/crls.js';
import { DocumentSigners } from '../document-signers/document-signers.js';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';
import { DueCertificates, type DueCertificate } from './due-certificates.read-model.js';

const NAME = 'issuance.certificate-renewal';
const PAUSE_MS = 60_000;
/** Certificates and CRLs of one run; the next runs do the others. */
const MOST = 100;
/** Between two attempts at one of them: what is due is still valid, for a day at least. */
const BACK_OFF = { firstMs: PAUSE_MS, maxMs: 15 * PAUSE_MS };

/**
 * Replaces signers and CRLs that are due, and the CA of issuer signers, and destroys the private keys of replaced issuer signers a day later.
 * What is due is still valid, for a day at least.
 */
@Injectable()
export class RenewCertificates extends PeriodicWork {
  private readonly failing: FailingRows;

  constructor(
    leases: Leases,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly crls: Crls,
    private readonly dueCertificates: DueCertificates,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, { name: NAME, failure: 'renewing certificates failed', pauseMs: PAUSE_MS });
    const [failure, recovery] = ['certificate not renewed', 'certificate no longer fails'];
    this.failing = new FailingRows({ logger, failure, recovery, backOff: BACK_OFF });
  }

  protected override get fault(): string | undefined {
    return this.failing.error;
  }

  async runJob(term: Pick<Term, 'epoch' | 'isHeld'>): Promise<void> {
    const outages: unknown[] = [];
    for (const row of await this.dueCertificates.due(this.clock.now(), MOST)) {
      if (!term.isHeld) return;
      const fields = { tenantId: row.tenant_id, kind: row.kind, name: row.name };
      const at = Object.values(fields).join(' ');
      try {
        await this.renew(row, serviceContext(NAME, row.tenant_id), term.epoch);
        this.failing.remove(at, fields);
        // The projection changes it: it tells a signer that replaces another one from the first one of its issuer.
        if (row.kind === 'issuerSigner') continue;
      } catch (error) {
        // Without its keys the tenant was deleted. Any other failure is tried again later, and holds up no other certificate.
        if (!(error instanceof KeyNotFound)) {
          const pauseMs = this.failing.add(at, error, fields);
          if (pauseMs === undefined) outages.push(error);
          else await this.dueCertificates.postpone(row, new Date(this.clock.now().getTime() + pauseMs));
          continue;
        }
      }
      // A row that was renewed has another time, at the latest when the projection has followed.
      await this.dueCertificates.remove(row);
    }
    if (outages.length) throw outages[0];
  }

  private async renew({ tenant_id: tenantId, kind, name }: DueCertificate, context: EventContext, epoch: number) {
    switch (kind) {
      case 'issuerSigner':
        await this.issuerSigners.renew(tenantId, name, context, epoch);
        break;
      case 'replacedKey':
        await this.issuerSigners.destroyReplacedKeys(tenantId, context, epoch);
        break;
      case 'crl':
        await this.crls.renew(tenantId, name, context, epoch);
        break;
      default:
        await this.documentSigners.renew(tenantId, { iacaId: name, documents: kind }, context, epoch);
    }
  }
}
