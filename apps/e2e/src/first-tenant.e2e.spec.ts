/** @engines embedded */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  freePort,
  hasOpenssl,
  startPlatformProcess,
  verifyCwt,
  cwtStatusOf,
  verifyJwtVc,
  verifyLdpVc,
  hostFetch,
  mdocStatus,
  verifyMdoc,
  verifyMdocStatus,
  verifySdJwt,
  waitUntil,
  Wallet,
  WalletProvider,
  WebhookReceiver,
  type PlatformProcess,
} from '@attestry/testing';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const blocksOf = (guide: string, language: string): string[] =>
  [...readFileSync(join(repository, 'docs/guides', guide), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, name, text]) => (name === language ? [text!] : []),
  );

/** Runs the blocks one after the other in one bash; the output of each is stored under its number. */
const run = (blocks: string[], env: Record<string, string>) =>
  new Promise<{ code: number | null; output: string[]; errors: string }>((resolve, reject) => {
    const script = blocks.map((block, index) => `echo '=== ${index}'\n${block}`).join('\n');
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', `${script}\necho '=== end'\necho "$CREDENTIAL"`], {
      cwd: repository,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      // Without a separate standard input bash would assume a remote shell and read start-up files.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (it: string) => (text += it));
    child.stderr.setEncoding('utf8').on('data', (it: string) => (errors += it));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: text.split(/^=== .*\n/m).slice(1), errors }));
  });

/** The program that a guide shows, on a free port. */
const startExample = async (
  guide: string,
  { port, env = {} }: { port?: number; env?: Record<string, string> } = {},
): Promise<{ origin: string; stop(): void }> => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'));
  const file = join(folder, 'example.mjs');
  await writeFile(file, blocksOf(guide, 'js')[0]!);
  const own = port ?? (await freePort());
  const child = spawn(process.execPath, [file], { env: { PORT: String(own), ...env }, stdio: 'ignore' });
  const origin = `http://127.0.0.1:${own}`;
  await waitUntil(
    () =>
      fetch(origin).then(
        () => true,
        () => false,
      ),
    { what: `the program of ${guide}` },
  );
  return {
    origin,
    stop: () => {
      child.kill();
      void rm(folder, { recursive: true });
    },
  };
};

describe('docs/guides', () => {
  let platform: PlatformProcess;

  beforeAll(async () => {
    platform = await startPlatformProcess();
  });
  afterAll(() => platform?.stop());

  it('first-tenant.md leads from an empty platform to a credential', async () => {
    const blocks = blocksOf('first-tenant.md', 'sh');
    expect(blocks.length).toBeGreaterThanOrEqual(10);
    const base = platform.ready.management.replace('http://management.', '');
    const { code, output, errors } = await run(blocks, { BASE: base, DATA_DIR: platform.dataDir });

    expect({ code, errors, last: code === 0 ? '' : output.at(-1) }).toEqual({ code: 0, errors: '', last: '' });
    const credential = output.at(-1)!.trim();
    const { payload } = await verifyJwtVc(credential);
    expect(payload.vc).toMatchObject({
      type: ['VerifiableCredential', 'StudentCard'],
      credentialSubject: { givenName: 'Ada', faculty: 'General studies' },
    });
    expect(output[6]!.trim()).toBe('Studierendenausweis');
    expect(output[10]).toContain("givenName: 'Ada'");
    const [type, ...events] = output[11]!.trim().split('\n');
    expect(type).toBe('StudentCard');
    for (const prefix of ['DID_CREATE', 'OPENID_PRE_AUTHORIZED_OFFER_CREATE', 'OPENID_TOKEN', 'OPENID_CREDENTIAL'])
      expect(events).toEqual(expect.arrayContaining([`${prefix}_START`, `${prefix}_SUCCESS`]));
  });

  const python = spawnSync('python3', ['--version']).status === 0 ? 'python3' : undefined;
  it.each(['node', ...(python ? [python] : []), 'curl'])(
    'first-tenant.md lets %s reach hosts below localhost, whatever the resolver returns',
    async (program) => {
      const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'));
      const { management } = platform.ready;
      const call = (file: string, words: string[]) =>
        promisify(execFile)(file, words, { cwd: folder }).then(({ stdout }) => stdout);
      try {
        if (program === 'curl') {
          const [console] = blocksOf('first-tenant.md', 'console').slice(-1);
          const commands = [...console!.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command!);
          expect(commands).toHaveLength(2);
          for (const command of commands) {
            const here = command.replaceAll('8080', String(platform.ready.port));
            expect(await call('bash', ['--norc', '-c', `${here} -sS --fail-with-body`])).toContain('Management API');
          }
        } else if (program === 'node') {
          await writeFile(join(folder, 'localhost-names.mjs'), blocksOf('first-tenant.md', 'js')[0]!);
          const text = `fetch('${management}/').then((answer) => answer.text()).then(console.log)`;
          expect(await call(process.execPath, ['--import', './localhost-names.mjs', '-e', text])).toContain(
            'Management API',
          );
        } else {
          await writeFile(join(folder, 'localhost_names.py'), blocksOf('first-tenant.md', 'python')[0]!);
          const lines = [
            'import localhost_names, urllib.request',
            `print(urllib.request.urlopen('${management}/').read())`,
          ];
          expect(await call(program, ['-c', lines.join('\n')])).toContain('Management API');
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  it('sd-jwt.md leads to a credential whose claims the holder discloses', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'sd-jwt-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const address = `TENANT=${tenant.url}`;
    const { code, output, errors } = await run([helpers!, address, ...blocksOf('sd-jwt.md', 'sh')], {
      TENANT_TOKEN: tenant.api.client.token!,
      CREDENTIAL: '',
    });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, , vct, type, uri, verifiers] = output.map((text) => text.trim());
    expect(vct).toBe(`${tenant.url}/v1/openid/types/MemberCard/1`);
    expect(JSON.parse(type!)).toMatchObject({ vct, name: 'Member card' });
    expect(verifiers).toMatch(/^-----BEGIN CERTIFICATE-----/);
    expect(verifiers!.endsWith(tenant.url)).toBe(true);
    const [got] = (await new Wallet().collect(uri!)).credentials;
    const { payload } = await verifySdJwt(got!.credential as string, got!.key, ['address']);
    expect(payload).toMatchObject({ address: { country: 'GB' } });
    expect(payload).not.toHaveProperty('given_name');
  });

  it('registering-wallets.md leads to a wallet that is registered, disabled and deleted', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'wallets-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const { code, output, errors } = await run(
      [helpers!, `TENANT=${tenant.url}`, ...blocksOf('registering-wallets.md', 'sh')],
      { TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '' },
    );
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output.slice(2, 7).map((text) => text.trim())).toEqual(['false', 'true\nfalse', 'true\n1', '90', '{}']);
    expect(expectStatus(await tenant.api.wallets.list(), 200).data).toEqual([]);
    expect(expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200)).toMatchObject({
      allowUnregisteredWallets: false,
    });
  });

  it('haip.md leads to a tenant that requires HAIP 1.0, and back', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'haip-guide');
    const root = join(platform.dataDir, 'root.pem');
    if (!hasOpenssl()) await writeFile(root, (await WalletProvider.create()).rootCertificate);
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const { code, output, errors } = await run([helpers!, `TENANT=${tenant.url}`, ...blocksOf('haip.md', 'sh')], {
      ...{ TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '', DATA_DIR: platform.dataDir },
      ...(hasOpenssl() ? {} : { ROOT_PEM: root }),
    });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, , , attestationRequired, on, metadata, uri, off] = output.map((text) => text.trim());
    expect([attestationRequired, on, off]).toEqual(['true', 'haip', 'default']);
    const methods = 'attest_jwt_client_auth,attest_jwt_client_auth_dpop';
    expect(metadata!.split('\n')).toEqual(['true', methods, 'false', 'dc+sd-jwt:Pass']);
    expect(uri).toMatch(/^openid-credential-offer:/);
  });

  it('cwt.md leads to a CWT and a Semantic CWT, whose key is in the DID document', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'cwt-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const prepared = [helpers!, `TENANT=${tenant.url}`];
    const env = { TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '' };
    const blocks = blocksOf('cwt.md', 'sh');
    const { code, output, errors } = await run([...prepared, ...blocks.slice(0, 5)], env);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, , did, issuer, types, uri, key] = output.map((text) => text.trim());
    expect([issuer, types]).toEqual([did, 'VerifiableCredential, SemanticMemberCard']);
    const { credentials } = await new Wallet().collect(uri!);
    const verify = ({ credential }: { credential: unknown }) => verifyCwt(credential as string);
    // The first lists are published about a second later.
    const [cwt, semantic] = await waitUntil(() => Promise.all(credentials.map(verify)), { what: 'the lists' });
    expect([cwt!.claims.get('given_name'), cwt!.claims.get('level')]).toEqual(['Ada', 'gold']);
    expect(semantic!.claims.get('vc')).toMatchObject({ credentialSubject: { address: { country: 'GB' } } });
    expect(key!.split('\n')).toContain(`${did}#${cwt!.kid}`);

    const isListed = async () => expectStatus(await tenant.api.credentials({ format: 'cwt' }), 200).data.length > 0;
    await waitUntil(isListed, { what: 'the credential in the list' });
    const revoked = await run([...prepared, ...blocks.slice(5)], env);
    expect({ code: revoked.code, errors: revoked.errors }).toEqual({ code: 0, errors: '' });
    const [changes, list] = revoked.output.slice(2).map((text) => text.trim());
    expect([changes, list]).toEqual(['true\nfalse\nfalse', cwtStatusOf(cwt!).revocation.uri]);
    const refusal = () => verify(credentials[0]!).catch(({ message }: Error) => message);
    await waitUntil(async () => (await refusal()) === 'Status is not valid', { what: 'the deletion' });
  });

  it('json-credentials.md leads to a credential that is kept until it is deleted, and then revoked', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'json-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const before = [helpers!, `TENANT=${tenant.url}`];
    const blocks = blocksOf('json-credentials.md', 'sh');
    const env = { TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '' };
    const made = await run([...before, ...blocks.slice(0, 2)], env);
    expect({ code: made.code, errors: made.errors }).toEqual({ code: 0, errors: '' });
    const [got] = (await new Wallet().collect(made.output[3]!.trim())).credentials;
    const refusal = () =>
      verifyLdpVc(got!.credential as Record<string, unknown>).catch(({ message }: Error) => message);
    await waitUntil(async () => (await refusal()) === undefined, { what: 'the credential to verify' });
    const { list } = tenant.api.webSemanticCredentials;
    const isListed = async () => expectStatus(await list(), 200).data.length > 0;
    await waitUntil(isListed, { what: 'the record of the credential' });
    const kept = await run([...before, ...blocks.slice(2)], env);
    expect({ code: kept.code, errors: kept.errors }).toEqual({ code: 0, errors: '' });
    expect(kept.output.slice(3, 6).map((text) => text.trim())).toEqual([
      'ecdsa-rdfc-2019',
      'BitstringStatusList',
      'true',
    ]);
    await waitUntil(async () => (await refusal()) === 'Status is not valid', {
      what: 'the revocation',
    });
    expect(expectStatus(await list(), 200)).toEqual({ data: [] });
  });

  it('revocation.md leads to a credential that is revoked', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'revocation-guide');
    const env = { TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '' };
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const [offer, ...rest] = blocksOf('revocation.md', 'sh');
    const prepared = [helpers!, `TENANT=${tenant.url}`];
    const first = await run([...prepared, offer!, 'echo "$CONFIGURATION"'], env);
    expect({ code: first.code, errors: first.errors }).toEqual({ code: 0, errors: '' });
    const [, , uri, configuration] = first.output.map((text) => text.trim());
    await new Wallet().collect(uri!);
    await waitUntil(async () => expectStatus(await tenant.api.credentials(), 200).data.length > 0, {
      what: 'the credential in the list',
    });
    const { code, output, errors } = await run([...prepared, `CONFIGURATION=${configuration}`, ...rest], env);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const statuses = ['suspended', 'valid', 'invalid', 'invalid'].map((status) => JSON.stringify({ status }));
    expect(output[4]!.trim().split('\n')).toEqual(statuses);
    expect(expectStatus(await tenant.api.credentials(), 200).data).toMatchObject([{ status: 'invalid' }]);
  });

  it('status-lists.md leads to the token of a status list', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'status-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const address = `TENANT=${tenant.url}`;
    const { code, output, errors } = await run([helpers!, address, ...blocksOf('status-lists.md', 'sh')], {
      TENANT_TOKEN: tenant.api.client.token!,
      CREDENTIAL: '',
    });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, , revocable, header] = output.map((text) => text.trim());
    expect(revocable).toBe('true');
    expect(JSON.parse(Buffer.from(header!, 'base64url').toString())).toMatchObject({ typ: 'statuslist+jwt' });
  });

  const itWithOpenssl = hasOpenssl() ? it : it.skip;
  itWithOpenssl('certificates.md leads to a managed IACA and to one whose key its owner keeps', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'certificates-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'));
    try {
      const addresses = `TENANT=${tenant.url}; cd ${folder}`;
      const { code, output, errors } = await run([helpers!, addresses, ...blocksOf('certificates.md', 'sh')], {
        TENANT_TOKEN: tenant.api.client.token!,
        CREDENTIAL: '',
      });
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(output.slice(2).map((text) => text.trim())).toEqual([
        expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
        'true\n1',
        expect.stringContaining('Example roads IACA'),
        'false',
        'true',
        'true',
        'false',
        'true',
        '',
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('mdoc.md leads from an IACA to a document that a verifier accepts until it is revoked', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'mdoc-guide');
    const [helpers] = blocksOf('first-tenant.md', 'sh');
    const prepared = [helpers!, `TENANT=${tenant.url}`];
    const env = { TENANT_TOKEN: tenant.api.client.token!, CREDENTIAL: '' };
    const blocks = blocksOf('mdoc.md', 'sh');
    const { code, output, errors } = await run([...prepared, ...blocks.slice(0, -1)], env);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, , iaca, active, , uri, listed, lists] = output.map((text) => text.trim());
    expect([active, JSON.parse(listed!)]).toEqual(['true', expect.objectContaining({ data: [] })]);
    expect(lists?.split('\n').slice(0, 2)).toEqual(['10', '0']);
    const [got] = (await new Wallet().collect(uri!)).credentials;
    const verified = await verifyMdoc({
      ...{ credential: got!.credential as string, docType: 'org.example.membership', iacas: [iaca!] },
      deviceKey: got!.key.privateKey,
    });
    expect(verified['org.example.membership.1']).toMatchObject({ given_name: 'Ada', points: 0 });
    const { uri: list } = (await mdocStatus(got!.credential as string))!;
    await waitUntil(async () => (await hostFetch(list)).ok, { what: 'the token of the list' });
    await verifyMdocStatus(got!.credential as string, [iaca!]);

    const isListed = async () => expectStatus(await tenant.api.credentials(), 200).data.length > 0;
    await waitUntil(isListed, { what: 'the document in the list' });
    const revoked = await run([...prepared, ...blocks.slice(-1)], env);
    expect({ code: revoked.code, errors: revoked.errors }).toEqual({ code: 0, errors: '' });
    const statuses = ['suspended', 'valid', 'invalid', 'invalid'].map((status) => JSON.stringify({ status }));
    expect(revoked.output[2]!.trim().split('\n')).toEqual(statuses);
    const refusal = () => verifyMdocStatus(got!.credential as string, [iaca!]).catch(({ message }: Error) => message);
    await waitUntil(async () => (await refusal()) === 'Status is not valid', {
      what: 'the revocation',
    });
  });

  it('claims-sources.md leads to a credential with the claims of a source', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'sources-guide');
    const source = await startExample('claims-sources.md');
    try {
      const blocks = blocksOf('claims-sources.md', 'sh');
      const [helpers, ...firstTenant] = blocksOf('first-tenant.md', 'sh');
      // The platform under test has the setting that the guide starts it with.
      expect(blocksOf('claims-sources.md', 'console')).toEqual(['$ ALLOW_PRIVATE_TARGETS=true npm start\n']);
      const { code, output, errors } = await run(
        [helpers!, `TENANT=${tenant.url}`, ...blocks.slice(0, 2), ...firstTenant.slice(7, 10), ...blocks.slice(2)],
        { TENANT_TOKEN: tenant.api.client.token!, SOURCE_URL: `${source.origin}/` },
      );
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(output[2]!.trim()).toBe('**********ssuer');
      expect(output.slice(7, 9).map((text) => text.trim())).toEqual(['true', 'no failure']);
      const { payload } = await verifyJwtVc(output.at(-1)!.trim());
      expect(payload.vc).toMatchObject({ credentialSubject: { givenName: 'Ada', faculty: 'Mathematics' } });
      expect(expectStatus(await tenant.api.claimSources.list(), 200).data).toEqual([]);
    } finally {
      source.stop();
    }
  });

  it('approving-credentials.md leads to a credential that was approved', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'approval-guide');
    const [configuration, ...blocks] = blocksOf('approving-credentials.md', 'sh');
    const [helpers, ...firstTenant] = blocksOf('first-tenant.md', 'sh');
    const { code, output, errors } = await run(
      [helpers!, `TENANT=${tenant.url}`, configuration!, ...firstTenant.slice(7, 9), ...blocks],
      { TENANT_TOKEN: tenant.api.client.token! },
    );
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output.slice(5, 7).map((text) => text.trim())).toEqual(['30', '30']);
    const { payload } = await verifyJwtVc(output.at(-1)!.trim());
    expect(payload.vc).toMatchObject({ credentialSubject: { givenName: 'Ada' } });
    expect(expectStatus(await tenant.api.deferred.list(), 200).data).toMatchObject([{ credentials: 1 }]);
  });

  it('signing-in.md and interaction-hook.md lead to a user who signs in, visits the hook and gets a credential', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'hook-guide');
    const port = await freePort();
    const [helpers, ...firstTenant] = blocksOf('first-tenant.md', 'sh');
    const [settings, ...rest] = blocksOf('interaction-hook.md', 'sh');
    for (const guide of ['signing-in.md', 'interaction-hook.md'])
      expect(blocksOf(guide, 'console')).toEqual(['$ ALLOW_PRIVATE_TARGETS=true npm start\n']);
    const prepared = [helpers!, `TENANT=${tenant.url}`];
    const env = {
      ...{ TENANT_TOKEN: tenant.api.client.token!, HOOK_URL: `http://127.0.0.1:${port}/visit` },
      ...{ DATA_DIR: platform.dataDir, PROVIDER_PORT: String(await freePort()) },
    };
    const configured = await run([...prepared, settings!], { ...env, CREDENTIAL: '' });
    expect({ code: configured.code, errors: configured.errors }).toEqual({ code: 0, errors: '' });
    const [secret, masked] = configured.output[2]!.trim().split('\n');
    expect(masked).toBe(`**********${secret!.slice(-5)}`);
    const hook = await startExample('interaction-hook.md', { port, env: { HOOK_SECRET: secret! } });
    try {
      const [configuration, ...afterwards] = rest;
      const tried = [configuration!, ...blocksOf('signing-in.md', 'sh').slice(4), ...firstTenant.slice(8, 10)];
      const { code, output, errors } = await run(
        [...prepared, "trap 'kill $(jobs -p)' EXIT", ...tried, ...afterwards],
        env,
      );
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(output[5]).toMatch(/^http:\/\/127\.0\.0\.1:9\/back\?code=/);
      expect(output.slice(8, 10).map((text) => text.trim())).toEqual(['no failure', 'false']);
      const { payload } = await verifyJwtVc(output.at(-1)!.trim());
      expect(payload.vc).toMatchObject({ credentialSubject: { level: 'member' } });
      const { status } = await fetch(`${hook.origin}/visit?session_token=a.b.c`);
      expect(status).toBe(400);
    } finally {
      hook.stop();
    }
  });

  it('webhooks.md verifies a delivery and refuses a modified one', async () => {
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'webhook-guide');
    const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'));
    try {
      const url = receiver.url;
      expectStatus(await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssuedSummary'], url }), 201);
      expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
      const configuration = expectStatus(
        await tenant.api.jwtVc.create({ type: 'Card', name: 'Card', issuer: { name: 'Guide' }, claimMappings: {} }),
        201,
      );
      const offer = expectStatus(await tenant.api.offers.create({ credentials: [configuration.id] }), 200);
      await new Wallet().collect(offer.uri);
      const { headers, text } = await receiver.waitFor();
      const { keys } = expectStatus(await tenant.api.webhooks.keys(), 200);

      const [source] = blocksOf('webhooks.md', 'js');
      const module = join(folder, 'is-genuine.mjs');
      await writeFile(module, source!);
      const { isGenuine } = (await import(module)) as {
        isGenuine(delivery: object, targetUri: string, keys: unknown[], now?: number): boolean;
      };
      const body = Buffer.from(text);
      expect(isGenuine({ headers, body }, url, keys)).toBe(true);
      expect(isGenuine({ headers, body: Buffer.from(`${text} `) }, url, keys)).toBe(false);
      expect(isGenuine({ headers, body }, `${url}/elsewhere`, keys)).toBe(false);
      expect(isGenuine({ headers, body }, url, [])).toBe(false);
      expect(isGenuine({ headers, body }, url, keys, Date.now() + 301_000)).toBe(false);
    } finally {
      await receiver.close();
      await rm(folder, { recursive: true });
    }
  });

  it('from-laptop-to-phone.md leads to a credential over https', async () => {
    const env = { BASE_DOMAIN: 'issuer.example', PUBLIC_SCHEME: 'https', TRUSTED_PROXIES: '127.0.0.1' };
    const secured = await startPlatformProcess({ env });
    try {
      const [settings, ...blocks] = blocksOf('from-laptop-to-phone.md', 'sh');
      const metadata = blocks.pop()!;
      const ports = { PORT: String(secured.ready.port), TLS_PORT: String(await freePort()) };
      const { code, output, errors } = await run(
        ["trap 'kill $(jobs -p)' EXIT", settings!, ...blocks, ...blocksOf('first-tenant.md', 'sh'), metadata],
        { ...ports, DATA_DIR: secured.dataDir },
      );
      expect({ code, errors, last: code === 0 ? '' : output.at(-1) }).toEqual({ code: 0, errors: '', last: '' });
      expect(output.join('')).toContain('strict-transport-security: max-age=31536000');
      expect(output.at(-2)!.trim()).toBe('https://acme.issuer.example/v1/openid/credential');
      const { payload } = await verifyJwtVc(output.at(-1)!.trim());
      expect(payload.vc).toMatchObject({ credentialSubject: { givenName: 'Ada' } });
    } finally {
      await secured.stop();
    }
  });
});
