/** @engines embedded */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  ApiClient,
  expectStatus,
  freePort,
  hostFetch,
  makeHolderKey,
  ownEnvironment,
  PLATFORM_START_MS,
  ProtocolWallet,
  RedirectBrowser,
  repository,
  startPlatformProcess,
  verifyMdoc,
  verifySdJwt,
  waitUntil,
  WalletProvider,
  type PlatformProcess,
} from '@attestry/testing';
import type { JWK } from 'jose';

interface Settings {
  alias: string;
  vci: {
    credential_issuer_url: string;
    credential_configuration_id: string;
    allow_unexpected_credential_issuer_metadata_fields: string[];
  };
  client: { client_id: string };
  client2: { client_id: string };
  client_attestation: { trust_anchor: string; attester_jwks: { keys: [JWK] } };
  credential: { trust_anchor_pem: string; status_list_trust_anchor_pem: string };
  browser: BrowserEntry[];
  override: Record<string, { browser: BrowserEntry[] }>;
}
interface BrowserEntry {
  match: string;
  tasks: { match: string; commands: string[][] }[];
}
interface Made {
  tenant: { id: string; url: string };
  folder: string;
  plans: { name: string; plan: string; variant: Record<string, string>; settings: string }[];
}

const DOC_TYPE = 'org.example.conformance.1';
const CLIENT = { PROVIDER_CLIENT_ID: 'attestry', PROVIDER_CLIENT_SECRET: 'the-secret-of-the-client-0815' };
const templates = join(repository, 'deploy/conformance');
const folder = mkdtempSync(join(tmpdir(), 'attestry-conformance-tenant-'));
let platform: PlatformProcess;
let provider: ChildProcess;
let issuer: string;
let base: string;

beforeAll(async () => {
  platform = await startPlatformProcess({ env: { LOG_LEVEL: 'warn' } });
  base = platform.ready.management.replace('management.', '');
  const callbacks = ['haip', 'plain', 'again'].flatMap((subdomain) => {
    const { protocol, host } = new URL(base);
    return ['--callback', `${protocol}//${subdomain}.${host}/v1/oauth/authentication/callback`];
  });
  const words = [join(templates, 'provider.mjs'), '--port', String(await freePort()), ...callbacks];
  provider = spawn(process.execPath, words, {
    env: { ...ownEnvironment(), ...CLIENT },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(provider.stdout!, 'data')) as [Buffer];
  ({ issuer } = JSON.parse(line.toString()) as { issuer: string });
}, PLATFORM_START_MS);
afterAll(async () => {
  provider?.kill();
  await platform?.stop();
  rmSync(folder, { recursive: true });
});

const run = (words: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const { client_id, client_secret } = platform.managementClient();
    const client = { MANAGEMENT_CLIENT_ID: client_id, MANAGEMENT_CLIENT_SECRET: client_secret };
    execFile(
      process.execPath,
      [join(repository, 'scripts/attestry.mjs'), 'conformance-tenant', ...words],
      { cwd: folder, env: { ...ownEnvironment(), ...client, ...CLIENT, ...env }, timeout: 60_000 },
      (error, out, err) => resolve({ code: error ? (error.code as number) : 0, out, err }),
    );
  });
const make = async (...words: string[]): Promise<Made> => {
  const { code, out, err } = await run(['--at', base, '--provider', issuer, '--json', ...words]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Made;
};
const settingsOf = ({ plans }: Made, name: string) =>
  JSON.parse(readFileSync(plans.find((plan) => plan.name === name)!.settings, 'utf8')) as Settings;

/** One for all: the provider asks although it knows the browser. */
const browser = new RedirectBrowser();
/** The suite's browser does the same: its first entry that matches, whose task clicks an element of the page by its id. */
const visit = async (url: string, entries: BrowserEntry[], callback: string): Promise<URL> => {
  const matches = (pattern: string, at: string) => pattern.endsWith('*') && at.startsWith(pattern.slice(0, -1));
  const { tasks } = entries.find(({ match }) => matches(match, url))!;
  const page = await browser.follow(url, (at) => matches(tasks[0]!.match, at) && at.includes('/sign-in/'));
  const [[action, by, id]] = tasks[0]!.commands as [string[]];
  expect([action, by]).toEqual(['click', 'id']);
  const html = await (await browser.openUrl(page.href)).text();
  const value = new RegExp(`<button id="${id}" name="answer" value="([^"]*)"`).exec(html)![1]!;
  const answer = await browser.openUrl(page.href, { method: 'POST', body: new URLSearchParams({ answer: value }) });
  const next = new URL(answer.headers.get('location')!, page).href;
  return browser.follow(next, (at) => at.startsWith(callback));
};

/** A wallet of the suite, as the settings describe it. */
const walletOf = async ({ vci, client_attestation: attestation }: Settings, clientId: string) =>
  ProtocolWallet.create(
    vci.credential_issuer_url,
    clientId,
    await WalletProvider.of(attestation.trust_anchor, attestation.attester_jwks.keys[0]),
  );
const callbackOf = ({ alias }: Settings) => `https://localhost.emobix.co.uk:8443/test/a/${alias}/callback`;
/** One credential by the authorization code flow, with the scope of the metadata. */
const collect = async (settings: Settings, clientId: string, redirectUri = callbackOf(settings)) => {
  const wallet = await walletOf(settings, clientId);
  const { credential_configuration_id: id } = settings.vci;
  const metadata = expectStatus(
    await new ApiClient(wallet.issuer).request<Record<string, unknown>>('GET', '/.well-known/openid-credential-issuer'),
    200,
  );
  const configurations = metadata['credential_configurations_supported'] as Record<string, { scope: string }>;
  const parameters = wallet.parameters(configurations[id]!.scope, { redirect_uri: redirectUri, login_hint: undefined });
  const { request_uri } = expectStatus(await wallet.push(parameters), 201);
  const back = await visit(wallet.authorizationUrl({ request_uri }), settings.browser, redirectUri);
  const exchanged = await wallet.exchange(back.searchParams.get('code')!, { redirect_uri: redirectUri });
  const key = await makeHolderKey();
  const [credential] = await wallet.credentials(expectStatus(exchanged, 200).access_token, id, key);
  return { credential: credential!, key, metadata };
};

describe('npx attestry conformance-tenant', () => {
  it('makes a tenant of HAIP, whose credentials the settings of each plan obtain [T715]', async () => {
    const made = await make('--to', join(folder, 'haip'));
    expect(made.plans.map(({ name, plan }) => [name, plan])).toEqual(
      ['mdoc-issuer', 'mdoc-wallet', 'sd-jwt-issuer', 'sd-jwt-wallet'].map((name) => [
        ...[`haip-${name}-initiated`, 'oid4vci-1_0-issuer-haip-test-plan'],
      ]),
    );
    const configuration = new ApiClient(made.tenant.url);
    expect((await configuration.request('GET', '/.well-known/oauth-authorization-server')).body).toMatchObject({
      require_pushed_authorization_requests: true,
    });
    const sdJwt = settingsOf(made, 'haip-sd-jwt-wallet-initiated');
    const { client, client2 } = sdJwt;
    expect(client2.client_id).not.toBe(client.client_id);
    for (const [{ client_id }, address] of [
      [client, callbackOf(sdJwt)],
      [client2, `${callbackOf(sdJwt)}?dummy1=lorem&dummy2=ipsum`],
    ] as const) {
      const { credential, key, metadata } = await collect(sdJwt, client_id, address);
      const { payload } = await waitUntil(() => verifySdJwt(credential, key), { what: 'the status list' });
      expect(payload).toMatchObject({
        given_name: 'Erika',
        status: expect.any(Object) as unknown,
        exp: expect.any(Number) as unknown,
      });
      expect(metadata).toHaveProperty('mdoc_iacas_uri');
      expect(sdJwt.vci.allow_unexpected_credential_issuer_metadata_fields).toEqual(['mdoc_iacas_uri']);
    }
    const { certificates } = (await configuration.request<{ certificates: string[] }>('GET', '/v1/openid/issuer-ca'))
      .body;
    expect(certificates).toContain(sdJwt.credential.trust_anchor_pem);

    const mdoc = settingsOf(made, 'haip-mdoc-issuer-initiated');
    const { credential, key } = await collect(mdoc, mdoc.client.client_id);
    const iacas = [mdoc.credential.trust_anchor_pem];
    expect(await verifyMdoc({ credential, docType: DOC_TYPE, deviceKey: key.privateKey, iacas })).toMatchObject({
      [DOC_TYPE]: { given_name: 'Erika' },
    });

    const { browser: cancels } = mdoc.override['fapi2-security-profile-final-user-rejects-authentication']!;
    const wallet = await walletOf(mdoc, mdoc.client.client_id);
    const redirect_uri = callbackOf(mdoc);
    const parameters = wallet.parameters(`mso_mdoc:${DOC_TYPE}`, { redirect_uri, login_hint: undefined });
    const { request_uri } = expectStatus(await wallet.push(parameters), 201);
    const back = await visit(wallet.authorizationUrl({ request_uri }), cancels, redirect_uri);
    expect(back.searchParams.get('error')).toBe('access_denied');
  }, 60_000);

  it('makes one of the profile default, with key attestations if they are wanted [T715]', async () => {
    const made = await make('--plans', 'plain', '--key-attestation', '--to', join(folder, 'plain'));
    expect(made.plans.map(({ name, plan }) => [name, plan])).toEqual([
      ['plain-mdoc', 'oid4vci-1_0-issuer-test-plan'],
      ['plain-sd-jwt', 'oid4vci-1_0-issuer-test-plan'],
    ]);
    const { vci } = settingsOf(made, 'plain-sd-jwt');
    const metadata = (
      await new ApiClient(made.tenant.url).request<Record<string, unknown>>(
        'GET',
        '/.well-known/openid-credential-issuer',
      )
    ).body;
    const supported = (metadata['credential_configurations_supported'] as Record<string, object>)[
      vci.credential_configuration_id
    ];
    expect(supported).toMatchObject({ proof_types_supported: { jwt: { key_attestations_required: {} } } });
    for (const name of vci.allow_unexpected_credential_issuer_metadata_fields)
      expect(name === 'id' ? supported : metadata).toHaveProperty(name);
  }, 60_000);

  it('makes keys at each run, in files that only their owner can read [T715]', async () => {
    const again = await make('--subdomain', 'again');
    expect(relative(repository, again.folder).startsWith('..')).toBe(true);
    const [first, second] = [join(folder, 'haip'), again.folder].map(
      (of) => JSON.parse(readFileSync(join(of, 'haip-mdoc-wallet-initiated.json'), 'utf8')) as Settings,
    );
    expect(second!.client_attestation.attester_jwks.keys[0].d).not.toBe(
      first!.client_attestation.attester_jwks.keys[0].d,
    );
    expect([second!.alias, second!.client.client_id]).toEqual(['again', 'again-1']);
    for (const name of readdirSync(again.folder))
      expect([name, statSync(join(again.folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(statSync(again.folder).mode & 0o777).toBe(0o700);
    rmSync(again.folder, { recursive: true });
    for (const name of readdirSync(templates))
      expect(readFileSync(join(templates, name), 'utf8')).not.toMatch(/PRIVATE KEY|BEGIN CERTIFICATE|"(d|x5c)":/);
  }, 60_000);

  it.each<[string, string[], Record<string, string>, string]>([
    ['in production', [], { NODE_ENV: 'production' }, 'NODE_ENV is production: --yes is required'],
    [
      'under a public name',
      ['--at', 'https://issuer.example.org'],
      {},
      'issuer.example.org is a public name: --yes is required',
    ],
    ['in the repository', ['--to', join(repository, 'dist/keys')], {}, '--to must be a folder outside the repository'],
    ['in a folder with keys', ['--to', join(folder, 'haip')], {}, '--to must be a new or empty folder'],
    [
      'at an address with a path',
      ['--at', 'http://localhost/x'],
      {},
      '--at must be an http or https URL without a path',
    ],
    ['without the client at the provider', [], { PROVIDER_CLIENT_SECRET: '' }, 'PROVIDER_CLIENT_SECRET must be set'],
  ])('is refused %s, with exit code 2 [T716]', async (_, words, env, message) => {
    const before = readdirSync(folder);
    const { code, out, err } = await run(['--at', base, '--provider', issuer, '--subdomain', 'refused', ...words], env);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(readdirSync(folder)).toEqual(before);
    expect((await hostFetch(`${base.replace('//', '//refused.')}/.well-known/openid-credential-issuer`)).status).toBe(
      404,
    );
  });

  it('is accepted in production with --yes [T716]', async () => {
    const words = [
      '--at',
      base,
      '--provider',
      issuer,
      '--subdomain',
      'wanted',
      '--to',
      join(folder, 'wanted'),
      '--yes',
    ];
    expect(await run(words, { NODE_ENV: 'production' })).toMatchObject({ code: 0 });
  }, 60_000);
});
