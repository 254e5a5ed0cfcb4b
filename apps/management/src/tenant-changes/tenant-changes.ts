import { Injectable } from '@nestjs/common';
import type { ManagementContext } from '@attestry/contracts';
import { Streams, type RunOptions } from '@attestry/event-store';
import { eventContext } from '@attestry/service-kit';
import { managementCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import type { Principal } from '../tenant/tenant.decisions.js';
import type { TenantEvent } from '../tenant/tenant.events.js';
import { tenant, tenantStream, type TenantState } from '../tenant/tenant.state.js';

/** Changes of a tenant by a caller of the management API, who is likely to read its lists next. */
@Injectable()
export class TenantChanges {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  /** @returns the state with the change */
  async decide(
    tenantId: string,
    context: ManagementContext,
    decide: (state: TenantState, caller: Principal) => readonly TenantEvent[],
    options?: RunOptions,
  ): Promise<TenantState> {
    const caller = managementCaller(context);
    const { state, position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => decide(current, caller),
      eventContext(context, tenantId),
      options,
    );
    await this.lists.settled(position);
    return state;
  }
}
