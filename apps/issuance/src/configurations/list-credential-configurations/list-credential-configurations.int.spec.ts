import { randomUUID } from 'node:crypto';
import { AppError, jwtVcConfigurations, type JwtVcConfiguration, type PageOf } from '@attestry/contracts';
import { IssuanceUnderTest } from '@attestry/testing/services';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';
import { issuanceService } from '../../index.js';

const { OTHER } = IssuanceUnderTest;
const issuance = new IssuanceUnderTest(issuanceService);
const { admin, configure } = issuance;
beforeAll(() => issuance.open());
afterAll(() => issuance.remove());

const logo = { uri: `data:image/png;base64,${'A'.repeat(90_000)}` };
/** Two of them are smaller than a page, three are not. */
const LARGE = { display: ['en', 'de'].map((locale) => ({ name: 'Large', locale, logo })) };
const list = async (query: object, tenantId?: string): Promise<PageOf<JwtVcConfiguration>> =>
  (await admin(jwtVcConfigurations.list, { query }, tenantId)) as PageOf<JwtVcConfiguration>;
const pagesOf = async (query: object): Promise<string[][]> => {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page: PageOf<JwtVcConfiguration> = await list({ ...query, ...(cursor !== undefined && { cursor }) });
    expect(JSON.stringify(page.data).length).toBeLessThan(512 * 1024);
    pages.push(page.data.map(({ type }) => type));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
};

describe('the list of credential configurations', () => {
  it('is returned in pages of 512 KB, whatever their limit, and completely [T521]', async () => {
    for (const n of [0, 1, 2, 3, 4]) await configure(`Large${n}`, LARGE);
    for (const n of [0, 1]) await configure(`Small${n}`);
    const pages = [
      ['Large0', 'Large1'],
      ['Large2', 'Large3'],
      ['Large4', 'Small0', 'Small1'],
    ];
    expect(await pagesOf({})).toEqual(pages);
    expect(await pagesOf({ limit: 1000 })).toEqual(pages);
    expect(await pagesOf({ limit: 1 })).toEqual(pages.flat().map((type) => [type]));
    expect(await pagesOf({ type: 'Large4' })).toEqual([['Large4']]);
    expect(await pagesOf({ type: 'None' })).toEqual([[]]);
  });

  it('has as many small ones in a page as have 512 KB with all their members [T521]', async () => {
    await configure('Small', { display: [{ name: 'Small', logo: { uri: logo.uri.slice(0, 400) } }] }, OTHER);
    const { db } = issuance.services.app.get(ConfigurationsReadModel, { strict: false }).running;
    const stored = await db
      .selectFrom('issuance_configurations')
      .selectAll()
      .where('tenant_id', '=', OTHER)
      .executeTakeFirstOrThrow();
    // More than requests allow.
    const copies = Array.from({ length: 1000 }, (_, n) => ({ ...stored, id: randomUUID(), type: `Small${n}` }));
    for (let n = 0; n < copies.length; n += 100)
      await db
        .insertInto('issuance_configurations')
        .values(copies.slice(n, n + 100))
        .execute();
    const page = await list({ limit: 1000 }, OTHER);
    const length = JSON.stringify(page.data).length;
    expect(length).toBeLessThan(512 * 1024);
    expect(page.data.length).toBeGreaterThan(500);
    expect(page.data.length).toBeLessThan(1000);
    expect(page.nextCursor).toBeDefined();
  });

  it('of another tenant refuses its cursor [T521]', async () => {
    const { nextCursor } = await list({});
    const refusal: unknown = await list({ cursor: nextCursor }, OTHER).catch((it: unknown) => it);
    if (!(refusal instanceof AppError)) throw new Error('it was not refused');
    expect([refusal.kind, refusal.details?.[0]?.param]).toEqual(['invalid', 'cursor']);
  });
});
