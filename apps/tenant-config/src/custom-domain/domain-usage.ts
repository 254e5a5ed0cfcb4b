import { Inject, Injectable } from '@nestjs/common';
import { countDomainConfigurations, type ClientContext } from '@attestry/contracts';
import { LOGGER, requestFields, ServiceClient, type Logger } from '@attestry/service-kit';
import type { ConfiguredDomain } from './custom-domain.state.js';

/** A deletion does not wait longer for a number that only the trail shows, milliseconds. */
const COUNT_MS = 2000;

/** What depends on a custom domain. */
@Injectable()
export class DomainUsage {
  constructor(
    private readonly client: ServiceClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Metadata of the operation event of a deletion: how many active credential configurations issue under the domain.
   * `undefined` where none does, for a domain that was never verified, and where the number cannot be had: a domain can be given
   * up also while issuance is away.
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
