import { Inject } from '@nestjs/common';
import {
  httpAnswer,
  updateCustomDomain,
  type ClientContext,
  type CustomDomain,
  type HttpAnswer,
} from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { eventContext, IDS, Operation, PlatformConfig, platformDomains, type RequestOf } from '@attestry/service-kit';
import { acceptedDomain } from '../custom-domain/custom-domain-rules.js';
import { viewOf } from '../custom-domain/custom-domain-view.js';
import { configured, updateCustomDomain as decide } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from '../custom-domain/custom-domain.state.js';
import { DomainUsage } from '../custom-domain/domain-usage.js';
import { VerifiedDomains } from '../custom-domain/verified-domains.js';

@Operation(updateCustomDomain)
export class UpdateCustomDomain {
  constructor(
    private readonly streams: Streams,
    private readonly domains: VerifiedDomains,
    private readonly usage: DomainUsage,
    private readonly config: PlatformConfig,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof updateCustomDomain>,
    context: ClientContext,
  ): Promise<CustomDomain | HttpAnswer> {
    const tenantId = context.tenant.id;
    const verificationToken = this.ids.uuid();
    let before: ConfiguredDomain | undefined;
    const { state, events } = await this.streams.runDecision(
      customDomain,
      customDomainStream(tenantId),
      (current) => {
        before = configured(current);
        const command = acceptedDomain(request.body, platformDomains(this.config));
        return decide(current, command, { verificationToken });
      },
      eventContext(context),
    );
    const view = viewOf(configured(state));
    if (!before || !events.some(({ type }) => type === 'CustomDomainReplaced')) return view;
    await this.domains.release({ ...before, owner: tenantId }, eventContext(context));
    const metadata = await this.usage.metadataOf(before, context);
    return metadata ? httpAnswer({ body: view, metadata }) : view;
  }
}
