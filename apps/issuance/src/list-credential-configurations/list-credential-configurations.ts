import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import {
  type JwtVcConfiguration,
  type ListConfigurationsQuery,
  type OperationContext,
  type OperationRequest,
  type PageOf,
} from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { listPage, tenantOf } from '@attestry/service-kit';
import { configurationOfRow, ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import { configurationRecord } from '../credential-configuration/credential-configuration.decisions.js';
import { formatOf } from '../credential-configuration/variant.js';

export class ListCredentialConfigurations {
  constructor(
    readonly request: OperationRequest<unknown, unknown, ListConfigurationsQuery>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(ListCredentialConfigurations)
export class ListCredentialConfigurationsHandler implements IQueryHandler<ListCredentialConfigurations> {
  constructor(
    private readonly configurations: ConfigurationsReadModel,
    private readonly vault: KeyVault,
  ) {}

  async execute({ request: { query }, context }: ListCredentialConfigurations): Promise<PageOf<JwtVcConfiguration>> {
    const format = formatOf(context);
    const tenantId = tenantOf(context).id;
    let rows = this.configurations.ofTenant(tenantId).where('format', '=', format);
    if (query.type !== undefined) rows = rows.where('type', '=', query.type);
    const list = [tenantId, 'credential-configurations', format, query.type ?? ''];
    const found = await listPage(rows, query, this.vault, list);
    return { ...found, data: found.data.map((row) => configurationRecord(configurationOfRow(row))) };
  }
}
