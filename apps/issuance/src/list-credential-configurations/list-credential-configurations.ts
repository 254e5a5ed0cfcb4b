import {
  configurationOperationOf,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
  type PageOf,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { sql } from 'kysely';
import { countFitting } from '../bounded-pages/count-fitting.js';
import { configurationOfRow, ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import { Formats } from '../formats/formats.js';

/** Bytes of the id, and of the names and defaults of members, which a record has beside what is stored: at most. */
const OTHER_MEMBERS = 256;

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
    // Before the contents, of which at most one is read that is not returned.
    const sizes = await listPage(
      rows
        .clearSelect()
        .select([
          'id',
          'created_at',
          sql<number>`octet_length(content) + octet_length(type) + octet_length(issuer_key)`.as('bytes'),
        ]),
      query,
      this.macs,
      list,
    );
    const fitting = countFitting(sizes.data.map(({ bytes }) => Number(bytes) + OTHER_MEMBERS));
    const found = await listPage(rows, { ...query, limit: Math.max(1, fitting) }, this.macs, list);
    return { ...found, data: found.data.map((row) => module.recordOf(configurationOfRow(row))) };
  }
}
