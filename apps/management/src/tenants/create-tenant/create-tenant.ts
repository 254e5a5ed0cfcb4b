import { setTimeout as pause } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import {
  AppError,
  createTenant,
  invalidBody,
  unavailable,
  type ContextOf,
  type CreatedTenant,
} from '@attestry/contracts';
import { NO_STREAM, Streams, type Clock, type EventContext, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, eventContext, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { newClientCredentials } from '../../platform/client-credentials/client-credentials.js';
import { tenantHost } from '../directory/hosts.js';
import { TenantDirectory } from '../directory/tenant-directory.js';
import { managementCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { createTenant as decide, withdrawTenant } from '../tenant/tenant.decisions.js';
import { checkSubdomain, subdomain as subdomainClaim } from '../tenant/subdomain.claim.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { tenantView } from '../tenant/tenant-view.js';

/** Pauses before further attempts to claim while another creation is in progress, milliseconds. */
const CLAIM_ATTEMPTS = 20;
const CLAIM_PAUSE_MS = 25;

interface Claim {
  environmentId: string;
  subdomain: string;
  /** Tenant id. */
  owner: string;
}

/**
 * Two streams, one outcome for the caller (ADR 0009): the subdomain is claimed first, for a tenant that does not exist yet, and then the
 * tenant is created. A failure in between leaves a claim that the next caller takes over after a minute; only the tenant that holds the
 * claim is ever served.
 */
@Operation(createTenant)
export class CreateTenant {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly directory: TenantDirectory,
    private readonly lists: TenantListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof createTenant>,
    context: ContextOf<typeof createTenant>,
  ): Promise<CreatedTenant> {
    const creator = managementCaller(context);
    const { subdomain, name = subdomain } = request.body;
    const environment = this.directory.environment(request.body.environmentId);
    if (!environment)
      throw invalidBody('environmentId', 'must be the id of an environment', request.body.environmentId);

    const claim: Claim = { environmentId: environment.id, subdomain, owner: idFor(context, 'tenant', this.ids) };
    const events = eventContext(context, claim.owner);
    await this.claimSubdomain(claim, events);

    const { clientId, clientSecret } = newClientCredentials(context);
    const facts = { clientId, secretMac: this.macs.mac(clientSecret, clientId), now: this.clock.now().toISOString() };
    const host = tenantHost(subdomain, environment);
    const command = { tenantId: claim.owner, environmentId: environment.id, name, subdomain, host, creator };
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(claim.owner),
      (state) => decide(state, command, facts),
      events,
      { once: true },
    );
    await this.withdrawUnlessOwner(claim, events);
    await this.lists.settled(position);
    return {
      ...tenantView({ id: claim.owner, name, restrictIdentityRoles: false }, host, environment, ['admin']),
      client: { clientId, clientSecret },
    };
  }

  /** Claims the subdomain; waits briefly for a creation in progress, whose outcome decides whether the subdomain is taken. */
  private async claimSubdomain(claim: Claim, events: EventContext): Promise<void> {
    checkSubdomain(claim.subdomain);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.streams.runDecision(
          subdomainClaim,
          subdomainClaim.stream(claim.environmentId, claim.subdomain),
          async (state) =>
            subdomainClaim.claim(state, claim, {
              now: this.clock.now().toISOString(),
              ownerStatus: state.status === 'claimed' && (await this.wasCreated(state.owner)) ? 'active' : 'absent',
            }),
          events,
          { maxAttempts: CLAIM_ATTEMPTS },
        );
        return;
      } catch (error) {
        const underWay = error instanceof AppError && error.kind === 'unavailable';
        if (!underWay || attempt === CLAIM_ATTEMPTS) throw error;
      }
      await pause(CLAIM_PAUSE_MS);
    }
  }

  private async wasCreated(tenantId: string): Promise<boolean> {
    return (await this.streams.load(tenant, tenantStream(tenantId))).revision !== NO_STREAM;
  }

  /** A creation that took longer than a claim is protected may have lost the name: then the tenant must not exist. */
  private async withdrawUnlessOwner(claim: Claim, events: EventContext): Promise<void> {
    const stream = subdomainClaim.stream(claim.environmentId, claim.subdomain);
    if (subdomainClaim.isHeldBy((await this.streams.load(subdomainClaim, stream)).state, claim)) return;
    await this.streams.runDecision(tenant, tenantStream(claim.owner), withdrawTenant, events);
    throw unavailable(
      'The subdomain was taken over by another request',
      new Error('the claim expired during the creation'),
    );
  }
}
