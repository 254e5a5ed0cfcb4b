import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from '../setup.mjs';

const SUITE = 'https://localhost.emobix.co.uk:8443';
/** RFC 2606 §2, RFC 6761 §6: these names are reserved and cannot be reached from other machines. */
const RESERVED = /(^|\.)(localhost|test|example|invalid)$|^127(\.\d+){3}$|^\[::1\]$/;

/** The tenant and the settings for the OpenID conformance suite (docs/guides/openid-certification.md). */
export default {
  group: 'Operate',
  description:
    'make a tenant for the OpenID conformance suite on a running platform, and write the settings of its plans with keys made for it',
  options: [
    {
      flags: '--at <url>',
      about: 'the running platform: its BASE_DOMAIN, with MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET',
      required: true,
    },
    {
      flags: '--provider <issuer>',
      about: 'provider at which the suite signs in, with PROVIDER_CLIENT_ID and PROVIDER_CLIENT_SECRET',
      required: true,
    },
    {
      flags: '--plans <plans>',
      about: 'the plans that the tenant is for',
      choices: ['haip', 'plain'],
      default: 'haip',
    },
    { flags: '--suite <url>', about: 'address of the suite', default: SUITE },
    { flags: '--subdomain <name>', about: 'of the tenant, and alias of the plans; default: that of --plans' },
    { flags: '--to <folder>', about: 'new folder outside the repository; default: one for temporary files' },
    { flags: '--key-attestation', about: 'require key attestations in the credential configurations' },
    { flags: '--sign-in-id <id>', about: 'element that signs in at the provider', default: 'sign-in' },
    { flags: '--cancel-id <id>', about: 'element that cancels at the provider', default: 'cancel' },
    { flags: '--yes', about: 'also on a production platform: NODE_ENV is production, or the name is public' },
  ],
  examples: [
    'npx attestry conformance-tenant --at https://attestry.test --provider http://127.0.0.1:9090',
    'npx attestry conformance-tenant --at https://attestry.test --provider http://127.0.0.1:9090 --plans plain',
  ],
  run: async ({ options }, cli) => {
    const [at, suite] = [originOf(options.at, '--at', cli), originOf(options.suite, '--suite', cli)];
    if (!/^https?:/.test(options.provider) || !URL.canParse(options.provider))
      cli.wrongUsage('--provider must be an http or https URL');
    const production = productionOf(at);
    if (production && !options.yes)
      cli.wrongUsage(`${production}: --yes is required to make a tenant with test wallets`);
    const { MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET } = process.env;
    const secrets = { MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET };
    const missing = Object.keys(secrets).filter((name) => !secrets[name]);
    if (missing.length) cli.wrongUsage(`${missing.join(' and ')} must be set`);
    const folder = newFolder(options.to, cli);

    const { makeAttester } = await import('../conformance-tenant/attester.mjs');
    const { createTenant } = await import('../conformance-tenant/create-tenant.mjs');
    const { writeSettings } = await import('../conformance-tenant/write-settings.mjs');
    const { plans, subdomain = plans, provider, keyAttestation = false } = options;
    const attester = await makeAttester();
    const callback = `${suite}/test/a/${subdomain}/callback`;
    const wanted = {
      at,
      subdomain,
      callback,
      provider,
      isHaip: plans === 'haip',
      requiresKeyAttestation: keyAttestation,
    };
    const tenant = await cli.step('tenant', () => createTenant(wanted, attester, secrets));
    const values = {
      ...{ alias: subdomain, issuer: tenant.url, provider: provider.replace(/\/$/, ''), callback },
      ...{ clientId: tenant.clientIds[0], secondClientId: tenant.clientIds[1], signIn: options.signInId },
      ...{ cancel: options.cancelId, attester: attester.issuer, attesterRoot: attester.rootCertificate },
      ...{ attesterJwks: { keys: [attester.jwk] }, sdJwt: tenant.sdJwt, mdoc: tenant.mdoc },
      ...{ issuerCa: tenant.issuerCa, iaca: tenant.iaca },
    };
    const written = writeSettings(folder, plans, values, tenant);
    cli.say(
      `Tenant ${tenant.url}, profile ${wanted.isHaip ? 'haip' : 'default'}. Its client and the settings are in ${folder}:`,
    );
    for (const { settings, plan, variant } of written)
      cli.say(`  ${relative(folder, settings)}  ${plan} ${JSON.stringify(variant)}`);
    return { document: { ok: true, tenant: { id: tenant.id, url: tenant.url }, folder, plans: written } };
  },
};

function originOf(text, flag, cli) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    cli.wrongUsage(`${flag} must be an http or https URL without a path`);
  return url.origin;
}

/** Why the platform counts as one in production. */
function productionOf(at) {
  if (process.env.NODE_ENV === 'production') return 'NODE_ENV is production';
  const { hostname } = new URL(at);
  return RESERVED.test(hostname) ? undefined : `${hostname} is a public name`;
}

/** Private keys never lie in the repository, where they could be committed. */
function newFolder(to, cli) {
  const folder = to === undefined ? undefined : resolve(to);
  let parent = folder ?? tmpdir();
  while (!existsSync(parent)) parent = dirname(parent);
  const inside = relative(realpathSync(root), realpathSync(parent));
  if (!inside.startsWith('..')) cli.wrongUsage('--to must be a folder outside the repository');
  if (folder === undefined) return mkdtempSync(join(tmpdir(), 'attestry-conformance-'));
  if (existsSync(folder) && readdirSync(folder).length > 0)
    cli.wrongUsage('--to must be a new or empty folder: each tenant has keys of its own');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
