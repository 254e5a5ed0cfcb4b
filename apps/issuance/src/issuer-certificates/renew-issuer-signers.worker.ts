import { Inject, Injectable } from '@nestjs/common';
import { Leases, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { CLOCK, Health, LOGGER, PeriodicWork, serviceContext, type Logger } from '@attestry/service-kit';
import { IssuerSigners } from './issuer-signers.js';
import { IssuerSignersReadModel } from './issuer-certificates.read-model.js';

const NAME = 'issuance.issuer-signer-renewal';
const PAUSE_MS = 60_000;
/** Signers of one run; the next runs do the others. */
const MOST = 100;

/**
 * Replaces issuer signers that are due, and their CA, and destroys the private keys of the replaced ones a day later. A signer that is due still
 * signs: its certificate lives much longer.
 */
@Injectable()
export class RenewIssuerSigners extends PeriodicWork {
  constructor(
    leases: Leases,
    private readonly signers: IssuerSigners,
    private readonly readModel: IssuerSignersReadModel,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, { name: NAME, failure: 'renewing issuer signers failed', pauseMs: PAUSE_MS });
  }

  async runJob(term: Pick<Term, 'epoch' | 'isHeld'>): Promise<void> {
    for (const { tenant_id: tenantId, issuer } of await this.readModel.due(this.clock.now(), MOST)) {
      if (!term.isHeld) return;
      const context = serviceContext(NAME, tenantId);
      try {
        await this.signers.renew(tenantId, issuer, context, term.epoch);
        await this.signers.destroyReplacedKeys(tenantId, context, term.epoch);
      } catch (error) {
        // The tenant was deleted.
        if (!(error instanceof KeyNotFound)) throw error;
        await this.readModel.removeTenant(tenantId);
      }
    }
  }
}
