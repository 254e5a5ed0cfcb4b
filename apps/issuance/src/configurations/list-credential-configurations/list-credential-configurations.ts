import {
  configurationOperationOf,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
  type PageOf,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import {
  configurationOfRow,
  ConfigurationsReadModel,
} from '../../settings/credential-configuration/configurations.read-model.js';
import { Formats } from '../../formats/formats.js';

@Operation(...configurationOperationOf('list'))
export class ListCredentialConfigurations {
  constructor(
    private readonly configurations: ConfigurationsReadModel,
    private readonly formats: Formats,
    private readonly macs: Macs,
  ) {}

  async execute(
    { query }: RequestOf<ConfigurationOperations['list']>,
    context: ClientContext,
  ): Promise<PageOf<ConfigurationRecord>> {
    const module = this.formats.ofCall(context);
    const { format } = module;
    const tenantId = context.tenant.id;
    let rows = this.configurations.ofTenant(tenantId).where('format', '=', format);
    if (query.type !== undefined) rows = rows.where('type', '=', query.type);
    const list = [tenantId, 'credential-configurations', format, query.type ?? ''];
    const found = await listPage(rows, query, this.macs, list, { contents: ['content', 'type', 'issuer_key'] });
    return { ...found, data: found.data.map((row) => module.recordOf(configurationOfRow(row))) };
  }
}
