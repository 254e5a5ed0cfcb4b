import {
  AppError,
  jwtVcConfigurations,
  retrieveIssuerMetadata,
  type JwtVcConfigurationRequest,
} from '@attestry/contracts';
import { IssuanceUnderTest } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';

const { TENANT, OTHER } = IssuanceUnderTest;
const issuance = new IssuanceUnderTest(issuanceService);
const { admin, configure } = issuance;
beforeAll(() => issuance.open());
afterAll(() => issuance.remove());

const uri = `data:image/png;base64,${'A'.repeat(90_000)}`;
const display = (entries: number) =>
  ['en', 'de'].slice(0, entries).map((locale) => ({ name: 'Large', locale, logo: { uri } }));
const refusalOf = async (attempt: Promise<unknown>) => {
  const error: unknown = await attempt.catch((it: unknown) => it);
  if (!(error instanceof AppError)) throw new Error('it was not refused');
  return [error.kind, error.message];
};
const TOO_LARGE = [
  'conflict',
  expect.stringMatching(/^The issuer metadata of all credential configurations would have \d+ bytes, and at most/),
];

describe('the issuer metadata of one tenant', () => {
  it('are bounded: a configuration that makes them too large is a 409 and reserves nothing; a smaller one is possible [T520]', async () => {
    const ids: string[] = [];
    // Two entries in each of two members, of 90,000 bytes.
    for (let n = 0; n < 5; n++) ids.push(await configure(`Large${n}`, { display: display(2) }));
    expect(await refusalOf(configure('Large5', { display: display(2) }))).toEqual(TOO_LARGE);
    const { body } = await issuance.send<{ credential_configurations_supported: object }>(retrieveIssuerMetadata, {});
    expect(Object.keys(body.credential_configurations_supported)).toEqual(ids);
    expect(JSON.stringify(body).length).toBeLessThan(2.1 * 1024 * 1024);
    // Neither type nor key were kept.
    const small = await configure('Large5', { display: display(1) });
    const request = (type: string, entries: number): { body: JwtVcConfigurationRequest } => ({
      body: { type, name: type, issuer: { name: 'Acme' }, claimMappings: {}, display: display(entries) },
    });
    const update = (id: string, type: string, entries: number) =>
      admin(jwtVcConfigurations.update, { params: { id }, ...request(type, entries) });
    expect(await refusalOf(update(small, 'Large5', 2))).toEqual(TOO_LARGE);
    await update(ids[0]!, 'Large0', 1);
    await update(small, 'Large5', 2);
    await configure('Large0', { display: display(2) }, OTHER);
    await admin(jwtVcConfigurations.delete, { params: { id: small } }, TENANT);
    await configure('Large5', { display: display(2) });
  });
});
