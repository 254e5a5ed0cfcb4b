import {
  countDomainConfigurations,
  type CountDomainConfigurationsAnswer,
  type TenantServiceContext,
} from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { countUnder } from '../credential-configuration/configurations-under.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';

@Operation(countDomainConfigurations)
export class CountDomainConfigurations {
  constructor(private readonly configurations: PublishedConfigurations) {}

  async execute(
    { body }: RequestOf<typeof countDomainConfigurations>,
    { tenant }: TenantServiceContext,
  ): Promise<CountDomainConfigurationsAnswer> {
    const configurations = await this.configurations.listActive(tenant.id);
    return { activeConfigurations: countUnder(configurations, body.domain) };
  }
}
