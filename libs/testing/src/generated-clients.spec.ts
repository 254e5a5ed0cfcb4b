import { spawnSync } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = join(dirname(fileURLToPath(import.meta.url)), '../../../scripts/generated-clients.mjs');

/** A program of a customer, with the functions of one generator and with the types of the other. */
const RIGHT = `
import createFetchClient from 'openapi-fetch';
import type { paths } from './openapi-typescript/tenant.js';
import type { paths as managementPaths } from './openapi-typescript/management.js';
import { createOffer, createWebhook, retrieveOpenIdConfiguration, updateOpenIdConfiguration } from './openapi-ts/tenant/index.js';
import type { CredentialResponse, Display, DisplayRequest } from './openapi-ts/tenant/index.js';
import { listClients, type TenantClient } from './openapi-ts/management/index.js';

export const call = async (id: string): Promise<void> => {
  const plain = await createOffer({ body: { credentials: [id] } });
  const uri: string | undefined = plain.data?.uri;
  await createOffer({ body: { credentials: [id, { credentialConfigurationId: id, claimSets: [{ claims: { a: 1 } }] }] } });
  await createWebhook({ body: { events: ['OpenIdCredentialIssued'], url: 'https://hooks.example', disabled: null } });
  await updateOpenIdConfiguration({ body: { dpopNonceRequired: false, strictClaims: null, encryption: { enabled: true } } });
  const settings = await retrieveOpenIdConfiguration();
  const isRequired: boolean | undefined = settings.data?.dpopNonceRequired;
  const clients = await listClients({ path: { tenantId: id } });
  const first: TenantClient | undefined = clients.data?.data[0];
  const management = createFetchClient<managementPaths>({ baseUrl: 'https://management.example' });
  const { data } = await management.GET('/v1/tenants/{tenantId}/clients', { params: { path: { tenantId: id } } });
  const tenant = createFetchClient<paths>({ baseUrl: 'https://acme.example' });
  const offer = await tenant.POST('/v1/openid/offers', { body: { credentials: [id] } });
  console.log(uri, isRequired, first?.clientId, data?.data[0]?.clientId, offer.data?.uri);
};
export const shown = (display: Display): DisplayRequest => ({ ...display, text_color: '#000000' });
export const credentials = (response: CredentialResponse): unknown[] => response.credentials.map((one) => one.credential);
`;
const WRONG = `
import { createOffer, updateOpenIdConfiguration } from './openapi-ts/tenant/index.js';
void createOffer({ body: { credentials: [1] } });
void updateOpenIdConfiguration({ body: { dpopNonceRequired: 'no' } });
`;

describe('clients that two generators make of the interface definitions', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'generated-clients-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('compile under strict, as do programs that use them, and no wrong one does [T806]', async () => {
    await writeFile(join(folder, 'right.ts'), RIGHT);
    await writeFile(join(folder, 'wrong.ts'), WRONG);
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    const faults = stderr.split('\n').filter(Boolean);
    expect([status, faults.map((fault) => fault.split(':')[0])]).toEqual([1, ['wrong.ts', 'wrong.ts']]);
  }, 30_000);
});
