/** @engines embedded */
import fc from 'fast-check';
import { OPERATIONS } from '@attestry/contracts';
import { ApiClient, interfaceDocument, pathOf, PLATFORM_START_MS, waitUntil } from '@attestry/testing';
import { AnswerCheck, type RawAnswer } from './fuzz/answers.js';
import { callsOf, Values, type Call } from './fuzz/calls.js';
import { DomainLog, exchange, Things, type SentRequest } from './fuzz/sender.js';
import type { ApiName, DescribedOperation } from './fuzz/described-operations.js';
import { clientOf, rightToken } from './registry/calls.js';
import { closeWorld, openWorld } from './registry/open-world.js';
import { ROWS } from './registry/rows.js';
import type { World } from './registry/world.js';

/** Requests of all operations together, at least. */
const REQUESTS = 5000;
/** Sent at once. */
const BATCH = 16;
/** Printed with a failure; FUZZ_SEED plays it again. */
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);

const definitions = { management: interfaceDocument('management'), tenant: interfaceDocument('tenant') };
const checks: Record<ApiName, AnswerCheck> = {
  management: new AnswerCheck('management', definitions.management),
  tenant: new AnswerCheck('tenant', definitions.tenant),
};
const operations = [...checks.management.operations, ...checks.tenant.operations];
const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
const runs = Math.ceil(REQUESTS / operations.length / BATCH) + 1;

describe(`requests generated from the interface definitions, seed ${seed}`, () => {
  let world: World;
  let log: DomainLog;
  let port: number;
  const things = new Things();
  /** Status of every request sent, by the id it was given. */
  const statuses = new Map<string, number>();
  const refused: { operation: DescribedOperation; sent: SentRequest }[] = [];
  let start: number;

  beforeAll(async () => {
    world = await openWorld();
    port = world.platform.ready.port;
    log = new DomainLog(world.platform.dataDir);
    things.add('/v1/environments', world.environmentId);
    for (const [collection, id] of Object.entries({
      '/v1/dids': world.own.did,
      '/v2/credentials/jwt-vc/configurations': world.own.jwtVc,
      '/v2/credentials/web-semantic/configurations': world.own.webSemantic,
    }))
      things.add(collection, id);
    start = log.head();
  }, PLATFORM_START_MS);
  afterAll(async () => {
    log?.close();
    if (world) await closeWorld(world);
  });

  const isOnAuthHost = ({ path }: Pick<DescribedOperation, 'path'>) =>
    path === '/.well-known/jwks.json' || path === '/oauth/revoke';
  const hostOf = ({ api, path }: DescribedOperation): string => {
    if (path === '/v1') return new URL(world.platform.tenantUrl('contexts')).host;
    if (isOnAuthHost({ path })) return new URL(world.platform.ready.auth).host;
    return new URL(api === 'management' ? world.management.client.baseUrl : world.tenant.url).host;
  };

  const tokensFor = ({ api, security }: DescribedOperation): Record<Call['credentials'], string | undefined> => {
    const [own, foreign] =
      api === 'management'
        ? [world.management.client.token, world.tenant.token]
        : [world.tenant.token, world.other.token];
    return {
      right: security.length ? `Bearer ${own}` : undefined,
      none: undefined,
      nonsense: 'Bearer nonsense',
      foreign: `Bearer ${foreign}`,
      basic: 'Basic YTpi',
    };
  };

  const faultsOf = async (operation: DescribedOperation, sent: SentRequest): Promise<string[]> => {
    const answer: RawAnswer = await exchange(port, hostOf(operation), sent);
    statuses.set(answer.headers['x-request-id'] ?? '', answer.status);
    if (answer.status >= 400) refused.push({ operation, sent });
    else things.learn(operation, answer);
    return checks[operation.api]
      .faultsOf(sent.method, sent.url, answer, isOnAuthHost(operation) ? 'TenantError' : undefined)
      .map((fault) => `${sent.method} ${sent.url} ${sent.body?.slice(0, 300) ?? ''}: ${fault.slice(0, 600)}`);
  };

  /** Events since a position that a refused request caused. */
  const causedByRefused = (position: number) =>
    log.after(position).filter(({ requestId }) => (statuses.get(requestId) ?? 0) >= 400);

  // Before others are made up: those delete what they find.
  it.each(Object.entries(ROWS))(
    'the valid call of %s is answered as the definition declares',
    async (name, { right }) => {
      const operation = OPERATIONS.find((it) => it.name === name)!;
      const { params, query, body, token = rightToken(world, operation), headers } = await right(world);
      const client: ApiClient = clientOf(world, operation, token ?? undefined);
      const path = pathOf(operation.http!.path, params);
      const { method, success } = operation.http!;
      const answer = await client.request(method, path, { query, body, headers });
      const api = operation.http!.hosts?.some((it) => it === 'management' || it === 'auth') ? 'management' : 'tenant';
      const received = { status: answer.status, headers: Object.fromEntries(answer.headers), text: answer.text };
      expect([answer.status, ...checks[api].faultsOf(method, path, received)]).toEqual([success]);
    },
  );

  it.each(table)(
    '%s',
    async (_name, operation) => {
      const values = new Values(definitions[operation.api]);
      await fc.assert(
        fc.asyncProperty(
          fc.array(callsOf(operation, values), { minLength: BATCH, maxLength: BATCH }),
          async (calls) => {
            const head = log.head();
            const tokens = tokensFor(operation);
            const sent = calls.map((call) => things.requestOf(operation, call, tokens));
            expect((await Promise.all(sent.map((one) => faultsOf(operation, one)))).flat()).toEqual([]);
            expect(causedByRefused(head)).toEqual([]);
          },
        ),
        { seed, numRuns: runs, endOnFailure: true },
      );
    },
    120_000,
  );

  it('reach the promised number, with some for each operation', () => {
    expect(statuses.size).toBeGreaterThanOrEqual(REQUESTS);
    const counts = Map.groupBy(statuses.values(), (status) => Math.floor(status / 100));
    // Some are refused and some succeed: otherwise the test would prove little.
    expect((counts.get(2) ?? []).length).toBeGreaterThan(REQUESTS / 10);
    expect((counts.get(4) ?? []).length).toBeGreaterThan(REQUESTS / 4);
  });

  it('that are refused do not move the head of the domain log', async () => {
    let head = log.head();
    // Reactions to earlier successful calls may still be running: wait until they have finished.
    const atRest = async () => {
      const before = head;
      await new Promise((resolve) => setTimeout(resolve, 300));
      head = log.head();
      return head === before;
    };
    await waitUntil(atRest, { what: 'reactions that are done' });
    statuses.clear();
    const again = refused.splice(0).filter((_, index, { length }) => index % Math.ceil(length / 1000) === 0);
    for (let index = 0; index < again.length; index += BATCH)
      await Promise.all(again.slice(index, index + BATCH).map(({ operation, sent }) => faultsOf(operation, sent)));
    // A claimed name may be free again, so a few calls succeed this time; only their events are allowed.
    const letIn = [...statuses.values()].filter((status) => status < 400).length;
    expect(letIn).toBeLessThan(again.length / 20);
    // A delivery that started before is retried independently.
    const begunBefore = new Set(
      log.after(0).flatMap(({ position, requestId }) => (position <= head ? [requestId] : [])),
    );
    const appended = log.after(head).filter(({ requestId }) => !begunBefore.has(requestId));
    expect(appended.filter(({ requestId }) => (statuses.get(requestId) ?? 400) >= 400)).toEqual([]);
  }, 60_000);

  it('that are refused appear in no event of the whole log', () => {
    expect(causedByRefused(start)).toEqual([]);
  });
});
