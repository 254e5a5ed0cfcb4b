import { deleteCustomDomain, httpAnswer, type ClientContext, type HttpAnswer } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation } from '@attestry/service-kit';
import { configured, deleteCustomDomain as decide } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from '../custom-domain/custom-domain.state.js';
import { DomainUsage } from '../custom-domain/domain-usage.js';
import { VerifiedDomains } from '../custom-domain/verified-domains.js';

@Operation(deleteCustomDomain)
export class DeleteCustomDomain {
  constructor(
    private readonly streams: Streams,
    private readonly domains: VerifiedDomains,
    private readonly usage: DomainUsage,
  ) {}

  async execute(_request: unknown, context: ClientContext): Promise<HttpAnswer | undefined> {
    const tenantId = context.tenant.id;
    const current = configured((await this.streams.load(customDomain, customDomainStream(tenantId))).state);
    const metadata = await this.usage.metadataOf(current, context);
    let before: ConfiguredDomain | undefined;
    await this.streams.runDecision(
      customDomain,
      customDomainStream(tenantId),
      (state) => {
        before = configured(state);
        return decide(state);
      },
      eventContext(context),
    );
    if (before?.verifiedAt !== undefined)
      await this.domains.release({ ...before, owner: tenantId }, eventContext(context));
    return metadata && httpAnswer({ metadata });
  }
}
