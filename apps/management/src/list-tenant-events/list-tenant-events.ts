import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import {
  listEventsOfTenant,
  type AnalyticsEvent,
  type listTenantEvents,
  type OperationContext,
  type PageOf,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { ServiceClient, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { seenByAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class ListTenantEvents {
  constructor(
    readonly request: RequestOf<typeof listTenantEvents>,
    readonly context: OperationContext,
  ) {}
}

/** Who may see them is known here alone, and the events to analytics alone. */
@QueryHandler(ListTenantEvents)
export class ListTenantEventsHandler implements IQueryHandler<ListTenantEvents> {
  constructor(
    private readonly streams: Streams,
    private readonly client: ServiceClient,
  ) {}

  async execute({ request: { params, query }, context }: ListTenantEvents): Promise<PageOf<AnalyticsEvent>> {
    const { state } = await this.streams.load(tenant, tenantStream(params.tenantId));
    const { id: tenantId } = seenByAdmin(state, managementCaller(context));
    const page = await this.client.call(listEventsOfTenant, { params: { tenantId }, query }, context);
    return page as unknown as PageOf<AnalyticsEvent>;
  }
}
