import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type {
  CountDomainConfigurationsAnswer,
  countDomainConfigurations as operation,
  OperationContext,
} from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { countUnder } from '../credential-configuration/configurations-under.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';

export class CountDomainConfigurations {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(CountDomainConfigurations)
export class CountDomainConfigurationsHandler implements IQueryHandler<CountDomainConfigurations> {
  constructor(private readonly configurations: PublishedConfigurations) {}

  async execute({ request: { body }, context }: CountDomainConfigurations): Promise<CountDomainConfigurationsAnswer> {
    const configurations = await this.configurations.of(tenantOf(context).id);
    return { activeConfigurations: countUnder(configurations, body.domain) };
  }
}
