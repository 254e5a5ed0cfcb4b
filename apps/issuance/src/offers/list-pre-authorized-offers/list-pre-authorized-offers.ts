import { Inject } from '@nestjs/common';
import {
  listPreAuthorizedOffers,
  type ClientContext,
  type PageOf,
  type PreAuthorizedOfferStatus,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { offerStatus, type OfferRecord } from '../pre-authorized-offers/offer-record.js';
import { PreAuthorizedOffersReadModel } from '../pre-authorized-offers/pre-authorized-offers.read-model.js';

@Operation(listPreAuthorizedOffers)
export class ListPreAuthorizedOffers {
  constructor(
    private readonly offers: PreAuthorizedOffersReadModel,
    private readonly macs: Macs,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { query }: RequestOf<typeof listPreAuthorizedOffers>,
    { tenant }: ClientContext,
  ): Promise<PageOf<PreAuthorizedOfferStatus>> {
    await this.offers.running.ownWrites();
    const rows = this.offers.running.db.selectFrom('issuance_offers').selectAll().where('tenant_id', '=', tenant.id);
    const page = await listPage(rows, query, this.macs, [tenant.id, 'offers'], { contents: ['record'] });
    const now = this.clock.now();
    return { ...page, data: page.data.map(({ record }) => offerStatus(JSON.parse(record) as OfferRecord, now)) };
  }
}
