// `npm run bench -- --lists [--json] [--quick]`: a page of 100 from 1,000 rows and from 1,000,000, embedded. The median of the
// larger list must be at most 1.5 times that of the smaller; the program ends with 1 when one is not.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyticsService } from '@attestry/analytics';
import { listCredentials, listDids, listEvents, listUsers } from '@attestry/contracts';
import { didsService } from '@attestry/dids';
import { issuanceService } from '@attestry/issuance';
import { openEngines, parseConfig, ServiceClient, startServices } from '@attestry/service-kit';
import { median } from './statistics.mjs';

const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const SAMPLES = quick ? 100 : 1000;
const WARM = quick ? 20 : 200;
const MOST = 1.5;
const TENANTS = [
  { id: '11111111-1111-4111-8111-111111111111', size: 1000 },
  { id: '22222222-2222-4222-8222-222222222222', size: quick ? 50_000 : 1_000_000 },
];

const uuid = `printf('%08x-0000-4000-8000-000000000000', i)`;
const time = `strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i * 0.01, 'unixepoch')`;
/** One statement a table: the rows of one tenant, `:tenant` and `:size`. */
const TABLES = {
  analytics_operations: `(tenant_id, start_id, end_id, request_id, operation, prefix, category, actor, started_at, start_key, start_source,
      outcome, ended_at, end_key, end_source, committed, last_at)
    select :tenant, ${uuid}, 'e' || ${uuid}, 'r' || i, 'dids.create-did',
      case i % 3 when 0 then 'DID_CREATE' when 1 then 'USER_CREATE' else 'WEBHOOK_CREATE' end,
      case i % 3 when 0 then 'did' when 1 then 'user' else 'webhook' end, 'cclient' || (i % 5), ${time}, printf('%010d0', i), 1,
      case i % 2 when 0 then 'SUCCESS' else 'FAIL' end, ${time}, printf('%010d1', i), 1, 0, ${time} from n`,
  did: `(tenant_id, did, id, created_at, registered, keys, document, signs_p256, signs_ed25519)
    select :tenant, 'did:web:example.com:' || i, ${uuid}, ${time}, 1767225600000 + i * 10, '[]', '{}', 0, 1 from n`,
  issuance_credentials: `(tenant_id, id, user_id, issued_at, configuration_id, format, type, status, record)
    select :tenant, ${uuid}, ${uuid}, ${time}, printf('%08x-0000-4000-8000-000000000000', i % 5),
      case i % 2 when 0 then 'dc+sd-jwt' else 'mso_mdoc' end, 'Bench', case i % 10 when 0 then 'invalid' else 'valid' end, '{}' from n`,
  issuance_users: `(tenant_id, id, sealed_claims, created_at) select :tenant, ${uuid}, null, ${time} from n`,
};

const CALLS = [
  ['events', listEvents, {}],
  ['events by type', listEvents, { types: ['DID_CREATE_START'] }],
  ['events by category', listEvents, { categories: ['did'] }],
  ['events by client', listEvents, { clientIds: ['client1'] }],
  ['events of any client', listEvents, { clientIds: ['*'] }],
  ['DIDs', listDids, {}],
  ['users', listUsers, {}],
  ['credentials', listCredentials, {}],
  ['credentials by status', listCredentials, { status: 'invalid' }],
  ['credentials by format', listCredentials, { format: 'mso_mdoc' }],
];

/** The table of the projection that is read, in whichever file it is. */
const seed = (folder) => {
  for (const [table, insert] of Object.entries(TABLES)) {
    for (const file of ['read-models.db', 'analytics.db']) {
      const db = new DatabaseSync(join(folder, file), { timeout: 10_000 });
      const found = db
        .prepare(`select name from sqlite_master where type = 'table' and name glob ?`)
        .all(`${table}_v[0-9]*`);
      for (const { name } of found)
        for (const { id, size } of TENANTS)
          db.prepare(
            `with recursive n(i) as (select 0 union all select i + 1 from n where i < :size - 1) insert into ${name} ${insert}`,
          ).run({ tenant: id, size });
      db.close();
    }
  }
};

const folder = mkdtempSync(join(tmpdir(), 'attestry-lists-'));
const engines = await openEngines(
  parseConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', OPERATION_EVENTS_DAYS: '3650' }),
);
const services = await startServices([analyticsService, didsService, issuanceService], engines);
const client = new ServiceClient(engines.bus, 'gateway');
let failed = false;
try {
  seed(folder);
  const results = [];
  for (const [name, operation, filters] of CALLS) {
    const ask = async (id, cursor) => {
      const context = {
        tenant: { id, host: 'h', baseUrl: 'http://h' },
        ...{ caller: { kind: 'client', clientId: 'c' }, requestId: 'r', operation: operation.name },
        ...{ deadline: Date.now() + 60_000 },
      };
      const query = { limit: 100, ...filters, ...(cursor && { cursor }) };
      const page = await client.call(operation, { query }, context);
      if (page.data.length !== 100) throw new Error(`${name}: ${page.data.length} rows`);
      return page;
    };
    const times = TENANTS.map(() => []);
    const cursors = [];
    for (const { id } of TENANTS) cursors.push((await ask(id)).nextCursor);
    // Both lists in turn, so that other load of the machine affects both; first and second pages.
    for (let n = -WARM; n < SAMPLES; n++)
      for (const [which, { id }] of TENANTS.entries()) {
        const begun = performance.now();
        await ask(id, n % 2 ? cursors[which] : undefined);
        if (n >= 0) times[which].push(performance.now() - begun);
      }
    const [few, many] = times.map(median);
    const ratio = many / few;
    failed ||= ratio > MOST;
    results.push({ list: name, fewMs: few, manyMs: many, ratio });
    if (!json)
      console.log(
        `${name.padEnd(22)} ${few.toFixed(3)} ms of ${TENANTS[0].size}, ${many.toFixed(3)} ms of ${TENANTS[1].size}: ${ratio.toFixed(2)} times`,
      );
  }
  if (json) console.log(JSON.stringify({ samples: SAMPLES, sizes: TENANTS.map(({ size }) => size), results }));
} finally {
  await services.close();
  await engines.close();
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
