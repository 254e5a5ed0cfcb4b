import { Inject, Injectable } from '@nestjs/common';
import { countDomainConfigurations, type ClientContext } from '@attestry/contracts';
import { LOGGER, requestFields, ServiceClient, type Logger } from '@attestry/service-kit';
import type { ConfiguredDomain } from './custom-domain.state.js';

/** Longest wait of a deletion for a number that is only recorded, milliseconds. */
const COUNT_MS = 2000;

/** Configurations that depend on a custom domain. */
@Injectable()
export class DomainUsage {
  constructor(
    private readonly client: ServiceClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Metadata of the operation event of a deletion: how many active credential configurations issue under the domain. `undefined` where none
   * does, for a domain that was never verified, and where the number is unavailable: a domain can also be deleted while issuance is
   * unreachable.
   */
  async metadataOf(
    { domain, verifiedAt }: ConfiguredDomain,
    context: ClientContext,
  ): Promise<{ activeConfigurations: number } | undefined> {
    if (verifiedAt === undefined) return undefined;
    const deadline = Math.min(context.deadline, Date.now() + COUNT_MS);
    try {
      const { activeConfigurations } = await this.client.call(
        countDomainConfigurations,
        { body: { domain } },
        { ...context, deadline },
      );
      return activeConfigurations > 0 ? { activeConfigurations } : undefined;
    } catch (error) {
      this.logger.warn(
        { ...requestFields(context), domain, error: String(error) },
        'configurations under a custom domain not counted',
      );
      return undefined;
    }
  }
}
