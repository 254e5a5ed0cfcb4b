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
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { createClient as decide } from '../../tenants/tenant/tenant.decisions.js';
import { newClientCredentials } from '../../platform/client-credentials/client-credentials.js';

@Operation(createClient)
export class CreateClient {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly changes: TenantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof createClient>,
    context: ContextOf<typeof createClient>,
  ): Promise<CreatedClient> {
    const { tenantId } = request.params;
    const { name, roles } = request.body;
    const { clientId, clientSecret } = newClientCredentials(context);
    const facts = {
      clientId,
      secretMac: this.macs.mac(clientSecret, clientId),
      now: this.clock.now().toISOString(),
    };
    await this.changes.decide(
      createClient,
      tenantId,
      context,
      (state, caller) => decide(state, { caller, name, roles }, facts),
      {
        once: true,
      },
    );
    return { clientId, name, roles, permissions: permissionsOf(roles), clientSecret };
  }

  async checkRetry({ params }: RequestOf<typeof createClient>, context: ManagementContext): Promise<void> {
    await loadTenant(this.streams, params.tenantId, tenantCaller(context, createClient));
  }
}
