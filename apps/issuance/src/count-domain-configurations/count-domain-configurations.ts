import {
  countDomainConfigurations,
  type CountDomainConfigurationsAnswer,
  type OperationContext,
} from '@attestry/contracts';
import { Operation, tenantOf, type RequestOf } from '@attestry/service-kit';
import { countUnder } from '../credential-configuration/configurations-under.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';

@Operation(countDomainConfigurations)
export class CountDomainConfigurations {
  constructor(private readonly configurations: PublishedConfigurations) {}

  async execute(
    { body }: RequestOf<typeof countDomainConfigurations>,
    context: OperationContext,
  ): Promise<CountDomainConfigurationsAnswer> {
    const configurations = await this.configurations.of(tenantOf(context).id);
    return { activeConfigurations: countUnder(configurations, body.domain) };
  }
}
