import { retrieveCustomDomain, type ClientContext, type CustomDomain } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation } from '@attestry/service-kit';
import { viewOf } from '../custom-domain/custom-domain-view.js';
import { configured } from '../custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream } from '../custom-domain/custom-domain.state.js';

@Operation(retrieveCustomDomain)
export class RetrieveCustomDomain {
  constructor(private readonly streams: Streams) {}

  async execute(_request: unknown, { tenant }: ClientContext): Promise<CustomDomain> {
    const stream = customDomainStream(tenant.id);
    return viewOf(configured((await this.streams.load(customDomain, stream)).state));
  }
}
