import {
  jwtVcConfigurations,
  webSemanticConfigurations,
  type ClientContext,
  type JwtVcConfiguration,
  type PageOf,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { configurationOfRow, ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import { configurationRecord } from '../credential-configuration/credential-configuration.decisions.js';
import { formatOf } from '../credential-configuration/variant.js';

@Operation(webSemanticConfigurations.list, jwtVcConfigurations.list)
export class ListCredentialConfigurations {
  constructor(
    private readonly configurations: ConfigurationsReadModel,
    private readonly macs: Macs,
  ) {}

  async execute(
    { query }: RequestOf<typeof webSemanticConfigurations.list>,
    context: ClientContext,
  ): Promise<PageOf<JwtVcConfiguration>> {
    const format = formatOf(context);
    const tenantId = context.tenant.id;
    let rows = this.configurations.ofTenant(tenantId).where('format', '=', format);
    if (query.type !== undefined) rows = rows.where('type', '=', query.type);
    const list = [tenantId, 'credential-configurations', format, query.type ?? ''];
    const found = await listPage(rows, query, this.macs, list);
    return { ...found, data: found.data.map((row) => configurationRecord(configurationOfRow(row))) };
  }
}
