import { Inject } from '@nestjs/common';
import { createCustomDomain, type ContextOf, type CustomDomain } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import {
  CLOCK,
  eventContext,
  idFor,
  IDS,
  Operation,
  PlatformConfig,
  platformDomains,
  type RequestOf,
} from '@attestry/service-kit';
import { acceptedDomain } from '../custom-domain/custom-domain-rules.js';
import { viewOf } from '../custom-domain/custom-domain-view.js';
import { configured, createCustomDomain as decide } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

/** Several tenants may configure the same domain; only one can verify it. */
@Operation(createCustomDomain)
export class CreateCustomDomain {
  constructor(
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof createCustomDomain>,
    context: ContextOf<typeof createCustomDomain>,
  ): Promise<CustomDomain> {
    const command = acceptedDomain(request.body, platformDomains(this.config));
    const facts = { verificationToken: idFor(context, 'token', this.ids), now: this.clock.now().toISOString() };
    const { state } = await this.streams.runDecision(
      customDomain,
      customDomainStream(context.tenant.id),
      (current) => decide(current, command, facts),
      eventContext(context),
      { once: true },
    );
    return viewOf(configured(state));
  }
}
