import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { AnalyticsEvent } from '@attestry/contracts';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  settledRecords,
  startPlatform,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
/** A number of events for several pages. */
const CALLS = 620;
/** Paths are recorded as they were sent: these begin like a formula. */
const HOSTILE = ['+1', '-2+3', '-HYPERLINK', '+cmd~x'];
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'exporting');
  for (const id of HOSTILE) expectStatus(await tenant.api.client.request('GET', `/v1/dids/${id}`), 400);
  for (let n = 0; n < CALLS; n += 20) await Promise.all(Array.from({ length: 20 }, () => tenant.api.webhooks.list()));
  await settledRecords(tenant.api);
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

interface Exported {
  status: number;
  type: string | undefined;
  text: string;
  isComplete: boolean;
  trailers: NodeJS.Dict<string>;
}
/** `fetch` has no trailers. */
const exportOf = (of: TenantUnderTest, query: Record<string, string> = {}): Promise<Exported> => {
  const url = new URL(`${of.url}/v1/events/export?${new URLSearchParams(query).toString()}`);
  const headers = { host: url.host, authorization: `Bearer ${of.api.client.token}` };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: url.port, path: url.pathname + url.search, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk as Buffer));
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode, headers: received, complete, trailers } = answer;
        const text = Buffer.concat(chunks).toString();
        resolve({ status: statusCode!, type: received['content-type'], text, isComplete: complete, trailers });
      });
    })
      .on('error', reject)
      .end();
  });
};
const expectComplete = ({ text, isComplete, trailers }: Exported, count: number) => {
  const digest = createHash('sha256').update(text).digest('base64');
  expect([isComplete, trailers]).toEqual([true, { 'x-count': String(count), 'content-digest': `sha-256=:${digest}:` }]);
};
const listed = async (query: Record<string, string> = {}): Promise<AnalyticsEvent[]> => {
  const all: AnalyticsEvent[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = expectStatus(
      await tenant.api.analytics.list({ ...query, limit: 1000, ...(cursor !== undefined && { cursor }) }),
      200,
    );
    all.push(...page.data);
    cursor = page.nextCursor;
  }
  return all.reverse();
};

/** Records of RFC 4180, by another reader than the writer. */
const csvRecords = (text: string): string[][] => {
  const records: string[][] = [];
  const cells: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    cells.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end !== ',') records.push(cells.splice(0));
  }
  return records;
};

describe('an export of events', () => {
  it('needs no period, and ends with count and digest as trailers [T870] [T871]', async () => {
    const exported = await exportOf(tenant);
    const all = await listed();
    expect([exported.status, exported.type]).toEqual([200, 'application/x-ndjson']);
    expect(
      exported.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AnalyticsEvent),
    ).toEqual(all);
    expect(all.length).toBeGreaterThan(2 * CALLS);
    expectComplete(exported, all.length);
  });

  it('has an open begin or end of its period [T870]', async () => {
    const all = await listed();
    const middle = all[Math.floor(all.length / 2)]!.timestamp;
    const [until, from] = await Promise.all([
      exportOf(tenant, { dateTo: middle }),
      exportOf(tenant, { dateFrom: middle }),
    ]);
    expectComplete(until, all.filter(({ timestamp }) => timestamp <= middle).length);
    expectComplete(from, all.filter(({ timestamp }) => timestamp >= middle).length);
  });

  it('as CSV has the same events, and no cell that begins a formula [T873]', async () => {
    const exported = await exportOf(tenant, { format: 'csv' });
    expect([exported.status, exported.type]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    const all = await listed();
    expectComplete(exported, all.length);
    const [names, ...records] = csvRecords(exported.text);
    expect(names).toEqual([
      ...['id', 'type', 'timestamp', 'category', 'requestId', 'clientId', 'managementUserId'],
      ...['object.type', 'object.id', 'metadata', 'data'],
    ]);
    expect(records.map(([id, type, , , , clientId]) => [id, type, clientId])).toEqual(
      all.map(({ id, type, clientId = '' }) => [id, type, clientId]),
    );
    const metadata = names!.indexOf('metadata');
    expect(records.map((record) => JSON.parse(record[metadata]!) as unknown)).toEqual(all.map((one) => one.metadata));
    expect(records.flat().filter((cell) => /^[\s=+@-]/.test(cell))).toEqual([]);
    const objects = records.map((record) => record[names!.indexOf('object.id')]);
    expect(objects).toEqual(expect.arrayContaining(HOSTILE.map((id) => `'${id}`)));
    expect(all.map(({ object }) => object?.id)).toEqual(expect.arrayContaining(HOSTILE));
  });

  it('of nothing is a header or nothing, and has trailers [T871]', async () => {
    const nothing = { dateTo: '2020-01-01' };
    const [lines, csv] = await Promise.all([
      exportOf(tenant, nothing),
      exportOf(tenant, { ...nothing, format: 'csv' }),
    ]);
    expect([lines.text, csvRecords(csv.text)]).toEqual(['', [expect.arrayContaining(['id', 'type'])]]);
    for (const exported of [lines, csv]) expectComplete(exported, 0);
  });

  it.each([
    ['format', { format: 'xlsx' }, 'must be one of: ndjson, csv'],
    ['format', { format: '' }, 'must be one of: ndjson, csv'],
    ['dateFrom', { dateFrom: 'yesterday' }, expect.any(String)],
    ['dateTo', { dateTo: '2026-13-01' }, expect.any(String)],
    ['period', { period: 'all' }, expect.stringContaining('format')],
  ])('with an invalid %s is a 400 in the form of all errors: %j [T870]', async (param, query, msg) => {
    const { status, type, text, trailers } = await exportOf(tenant, query as Record<string, string>);
    expect([status, type, trailers]).toEqual([400, 'application/json; charset=utf-8', {}]);
    expect(JSON.parse(text)).toMatchObject({ code: 'BadRequest', details: [{ param, location: 'query', msg }] });
  });

  it('64 times at once is the same for each that is not a 429 [T872]', async () => {
    const dateTo = new Date().toISOString();
    const all = await Promise.all(Array.from({ length: 64 }, () => exportOf(tenant, { dateTo })));
    const complete = all.filter(({ status }) => status === 200);
    expect(all.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    expect(complete.length).toBeGreaterThan(0);
    expect(new Set(complete.map(({ text }) => text)).size).toBe(1);
    for (const exported of complete) expectComplete(exported, exported.text.trimEnd().split('\n').length);
  });

  it('has no event of another tenant [T870]', async () => {
    const neighbor = await createTenantUnderTest(platform, management, 'exporting-neighbor');
    expectStatus(await neighbor.api.webhooks.list(), 200);
    await settledRecords(neighbor.api);
    const [own, theirs] = await Promise.all([exportOf(tenant), exportOf(neighbor)]);
    const idsOf = ({ text }: Exported) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as AnalyticsEvent).id);
    const ids = new Set(idsOf(own));
    expect(idsOf(theirs).length).toBeGreaterThan(0);
    expect(idsOf(theirs).filter((id) => ids.has(id))).toEqual([]);
    const foreign = { ids: idsOf(own).slice(0, 50).join() };
    expectComplete(await exportOf(neighbor, foreign), 0);
  });
});
