import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { OperationContext, RotatedClientSecret, rotateClientSecret as operation } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { CLOCK, eventContext, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { newClientCredentials } from '../create-client/client-credentials.js';
import { managementCaller } from '../management-caller.js';
import { rotateClientSecret } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class RotateClientSecret {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** Tokens end with the secret that they were issued for, at the end of its overlap (ADR 0047). */
@CommandHandler(RotateClientSecret)
export class RotateClientSecretHandler implements ICommandHandler<RotateClientSecret> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ request, context }: RotateClientSecret): Promise<RotatedClientSecret> {
    const { tenantId, clientId } = request.params;
    const overlapSeconds = request.body.overlapSeconds ?? this.config.clientSecretOverlapSeconds;
    const caller = managementCaller(context);
    const { clientSecret } = newClientCredentials(context);
    const facts = { secretMac: this.vault.mac(clientSecret, clientId), now: this.clock.now().toISOString() };
    const { state } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => rotateClientSecret(current, { caller, clientId, overlapSeconds }, facts),
      eventContext(context, tenantId),
      { once: true },
    );
    const client = state.status === 'active' ? state.clients.get(clientId) : undefined;
    const previousSecretExpiresAt = client?.previous?.expiresAt;
    return { clientId, clientSecret, ...(previousSecretExpiresAt !== undefined && { previousSecretExpiresAt }) };
  }
}
