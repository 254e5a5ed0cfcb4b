import { Injectable } from '@nestjs/common';
import type { ManagementContext, MemberAccess } from '@attestry/contracts';
import { Streams, type RunOptions } from '@attestry/event-store';
import { eventContext } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import type { TenantCaller } from '../tenant/tenant.decisions.js';
import type { TenantEvent } from '../tenant/tenant.events.js';
import { tenant, tenantStream, type TenantState } from '../tenant/tenant.state.js';

/** Changes of a tenant by a caller of the management API, who is likely to read its lists next. */
@Injectable()
export class TenantChanges {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  /**
   * Changes it as a caller with the access that the operation declares.
   * @returns the state with the change
   */
  decide(
    operation: { access: MemberAccess },
    tenantId: string,
    context: ManagementContext,
    decide: (state: TenantState, caller: TenantCaller) => readonly TenantEvent[],
    options?: RunOptions,
  ): Promise<TenantState> {
    const caller = tenantCaller(context, operation);
    return this.change(tenantId, context, (state) => decide(state, caller), options);
  }

  /** {@link decide} where the operation is not for members of the tenant. */
  async change(
    tenantId: string,
    context: ManagementContext,
    decide: (state: TenantState) => readonly TenantEvent[],
    options?: RunOptions,
  ): Promise<TenantState> {
    const { state, position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      decide,
      eventContext(context, tenantId),
      options,
    );
    await this.lists.settled(position);
    return state;
  }
}
