import { Inject } from '@nestjs/common';
import { listDeferredIssuances, type ClientContext, type DeferredIssuance, type PageOf } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { DeferredIssuancesReadModel, viewOfRow } from '../deferred-issuance/deferred-issuances.read-model.js';

@Operation(listDeferredIssuances)
export class ListDeferredIssuances {
  constructor(
    private readonly deferred: DeferredIssuancesReadModel,
    private readonly macs: Macs,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { query }: RequestOf<typeof listDeferredIssuances>,
    { tenant }: ClientContext,
  ): Promise<PageOf<DeferredIssuance>> {
    await this.deferred.running.ownWrites();
    const rows = this.deferred.rowsOf(tenant.id, this.clock.now());
    const found = await listPage(rows, query, this.macs, [tenant.id, 'deferred'], { contents: ['record'] });
    return { ...found, data: found.data.map(viewOfRow) };
  }
}
