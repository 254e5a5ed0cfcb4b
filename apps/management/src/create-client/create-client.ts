import { Inject } from '@nestjs/common';
import {
  createClient,
  permissionsOf,
  type ContextOf,
  type CreatedClient,
  type ManagementContext,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { loadTenant } from '../tenant/load-tenant.js';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { createClient as decide } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { newClientCredentials } from '../client-credentials/client-credentials.js';

@Operation(createClient)
export class CreateClient {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly lists: TenantListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof createClient>,
    context: ContextOf<typeof createClient>,
  ): Promise<CreatedClient> {
    const { tenantId } = request.params;
    const { name, roles } = request.body;
    const caller = tenantCaller(context, createClient);
    const { clientId, clientSecret } = newClientCredentials(context);
    const facts = {
      clientId,
      secretMac: this.macs.mac(clientSecret, clientId),
      now: this.clock.now().toISOString(),
    };
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller, name, roles }, facts),
      eventContext(context, tenantId),
      { once: true },
    );
    await this.lists.settled(position);
    return { clientId, name, roles, permissions: permissionsOf(roles), clientSecret };
  }

  async checkRetry({ params }: RequestOf<typeof createClient>, context: ManagementContext): Promise<void> {
    await loadTenant(this.streams, params.tenantId, tenantCaller(context, createClient));
  }
}
