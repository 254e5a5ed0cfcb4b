import {
  countDomainConfigurations,
  type CountDomainConfigurationsAnswer,
  type TenantServiceContext,
} from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { IssuerDomainUsage } from '../issuer-domain/issuer-domain-usage.js';

@Operation(countDomainConfigurations)
export class CountDomainConfigurations {
  constructor(private readonly usage: IssuerDomainUsage) {}

  async execute(
    { body }: RequestOf<typeof countDomainConfigurations>,
    { tenant }: TenantServiceContext,
  ): Promise<CountDomainConfigurationsAnswer> {
    return { activeConfigurations: await this.usage.count(tenant.id, body.domain) };
  }
}
