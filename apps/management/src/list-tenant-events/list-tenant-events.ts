import {
  listEventsOfTenant,
  listTenantEvents,
  type AnalyticsEvent,
  type ManagementContext,
  type PageOf,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../caller/management-caller.js';
import { requireAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** Only this service has the admins, and only analytics the events. */
@Operation(listTenantEvents)
export class ListTenantEvents {
  constructor(
    private readonly streams: Streams,
    private readonly client: ServiceClient,
  ) {}

  async execute(
    { params, query }: RequestOf<typeof listTenantEvents>,
    context: ManagementContext,
  ): Promise<PageOf<AnalyticsEvent>> {
    const { state } = await this.streams.load(tenant, tenantStream(params.tenantId));
    const { id: tenantId } = requireAdmin(state, managementCaller(context));
    const page = await this.client.call(listEventsOfTenant, { params: { tenantId }, query }, context);
    return page as unknown as PageOf<AnalyticsEvent>;
  }
}
