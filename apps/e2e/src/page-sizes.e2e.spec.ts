/** @engines embedded */
import { OPERATIONS, type Operation, type PageOf } from '@attestry/contracts';
import {
  expectStatus,
  PAGE_SIZE_SWITCH,
  pathOf,
  PLATFORM_START_MS,
  waitUntil,
  type Answer,
  type OperationParts,
  type PlatformProcess,
} from '@attestry/testing';
import { clientOf, rightToken } from './registry/calls.js';
import { closeWorld, openWorld } from './registry/open-world.js';
import { ROWS } from './registry/rows.js';
import type { World } from './registry/world.js';

const overHttp = OPERATIONS.filter(({ http }) => http !== undefined);
/** A new list of the contract is among them. */
const LISTS = overHttp.filter(({ http, response }) => Array.isArray(response) && http!.stream !== true);
/** Lists that have one entry here: of a deployment, of a tenant, of a signer, or of the user or webhook that the row makes. */
const OF_ONE_ENTRY: readonly string[] = [
  'management.list-environments',
  'tenant-config.list-authentication-providers',
  'issuance.list-revocation-lists.compact',
  'issuance.list-revocation-lists.compact-semantic',
  'issuance.list-user-credentials',
  'webhooks.list-attempts',
];
/** Calls that begin what no call creates alone. */
const BEGINNING: readonly string[] = ['issuance.approve-deferred-issuance', 'management.invite-member'];
const LARGEST_PAGE = 512 * 1024;
/** The right calls that create something are repeated so often: then each list has several entries. */
const TIMES = 2;

type Page = PageOf<Record<string, unknown>>;

let world: World;
beforeAll(async () => {
  world = await openWorld({ preload: PAGE_SIZE_SWITCH });
  for (let n = 0; n < TIMES; n++)
    for (const operation of overHttp)
      if ((operation.http!.method === 'POST' && operation.http!.success === 201) || BEGINNING.includes(operation.name))
        expectStatus(await send(operation, await ROWS[operation.name]!.right(world)), operation.http!.success as 201);
}, 3 * PLATFORM_START_MS);
afterAll(async () => world && closeWorld(world));

const setPageSize = (bytes: number) => (world.platform as PlatformProcess).query(bytes);
const send = (operation: Operation, parts: OperationParts): Promise<Answer> => {
  const { method, path } = operation.http!;
  const { params, ...rest } = parts;
  return clientOf(world, operation, rightToken(world, operation)).request(method, pathOf(path, params), rest);
};

/** A page of a list, whose parameters are in the query or, of a search, in the body. */
const pageOf = async (operation: Operation, parts: OperationParts, cursor?: string): Promise<Page> => {
  const asked = { limit: 1000, ...(cursor !== undefined && { cursor }) };
  const paged =
    operation.http!.method === 'GET'
      ? { ...parts, query: { ...(parts.query as object), ...asked } }
      : { ...parts, body: { ...(parts.body as object), ...asked } };
  return expectStatus(await send(operation, paged), 200) as Page;
};

describe('a page of each list of the contract', () => {
  afterEach(() => setPageSize(LARGEST_PAGE));

  it('has the first entries that fit, and at least one; the next page continues there [T551]', async () => {
    const failed: string[] = [];
    const single: string[] = [];
    for (const operation of LISTS) {
      const parts = await ROWS[operation.name]!.right(world);
      const minimum = OF_ONE_ENTRY.includes(operation.name) ? 1 : 2;
      let whole: Page = { data: [] };
      await waitUntil(async () => (whole = await pageOf(operation, parts)).data.length > 0, {
        what: `an entry of ${operation.name}`,
      });
      if (whole.data.length < minimum) single.push(operation.name);
      await setPageSize(1);
      const first = await pageOf(operation, parts);
      const second = first.nextCursor === undefined ? undefined : await pageOf(operation, parts, first.nextCursor);
      await setPageSize(LARGEST_PAGE);
      const isBounded = first.data.length === 1 && (second ? second.data.length === 1 : whole.data.length === 1);
      if (!isBounded)
        failed.push(`${operation.name}: ${first.data.length}, ${second?.data.length} of ${whole.data.length}`);
    }
    expect({ failed, single }).toEqual({ failed: [], single: [] });
  }, 120_000);
});
