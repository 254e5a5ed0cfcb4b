import {
  listEventsOfTenant,
  listTenantEvents,
  type AnalyticsEvent,
  type ManagementContext,
  type PageOf,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { loadTenant } from '../tenant/load-tenant.js';

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
    const { id: tenantId } = await loadTenant(this.streams, params.tenantId, tenantCaller(context, listTenantEvents));
    const page = await this.client.call(listEventsOfTenant, { params: { tenantId }, query }, context);
    return page as unknown as PageOf<AnalyticsEvent>;
  }
}
