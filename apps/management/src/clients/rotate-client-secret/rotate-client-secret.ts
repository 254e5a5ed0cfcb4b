import { Inject } from '@nestjs/common';
import {
  rotateClientSecret,
  type ContextOf,
  type ManagementContext,
  type RotatedClientSecret,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, eventContext, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { newClientCredentials } from '../../platform/client-credentials/client-credentials.js';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { rotateClientSecret as decide } from '../../tenants/tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';

/** Tokens end with the secret that they were issued for, at the end of its overlap (ADR 0047). */
@Operation(rotateClientSecret)
export class RotateClientSecret {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof rotateClientSecret>,
    context: ContextOf<typeof rotateClientSecret>,
  ): Promise<RotatedClientSecret> {
    const { tenantId, clientId } = request.params;
    const overlapSeconds = request.body.overlapSeconds ?? this.config.clientSecretOverlapSeconds;
    const caller = tenantCaller(context, rotateClientSecret);
    const { clientSecret } = newClientCredentials(context);
    const facts = { secretMac: this.macs.mac(clientSecret, clientId), now: this.clock.now().toISOString() };
    const { state } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => decide(current, { caller, clientId, overlapSeconds }, facts),
      eventContext(context, tenantId),
      { once: true },
    );
    const client = state.status === 'active' ? state.clients.get(clientId) : undefined;
    const previousSecretExpiresAt = client?.previous?.expiresAt;
    return { clientId, clientSecret, ...(previousSecretExpiresAt !== undefined && { previousSecretExpiresAt }) };
  }

  async checkRetry({ params }: RequestOf<typeof rotateClientSecret>, context: ManagementContext): Promise<void> {
    await loadTenant(this.streams, params.tenantId, tenantCaller(context, rotateClientSecret));
  }
}
