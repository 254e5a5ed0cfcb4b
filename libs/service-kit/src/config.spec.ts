import { ConfigError, parseConfig, SETTINGS } from './config.js';

const faultsOf = (env: Record<string, string>): string[] => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

const KEY = Buffer.alloc(32, 7).toString('base64url');
const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_SCHEME: 'https',
  BASE_DOMAIN: 'example.com',
  MASTER_KEY: KEY,
  MANAGEMENT_CLIENT_ID: 'ops',
  MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
};

describe('configuration', () => {
  it('needs nothing in development', () => {
    const config = parseConfig({});
    expect(config).toMatchObject({
      port: 8080,
      baseDomain: 'localhost:8080',
      managementDomain: 'management.localhost:8080',
      publicScheme: 'http',
      allowPrivateTargets: false,
    });
    expect(config.environments).toMatchObject([
      { domain: 'localhost:8080', authorizationServerDomain: 'auth.localhost:8080' },
    ]);
  });

  it('reports all faults together', () => {
    expect(faultsOf({ PORT: '99999', LOG_LEVEL: 'loud', MASTER_KEY: 'short', TRUSTED_PROXIES: 'here' })).toEqual([
      expect.stringMatching(/^PORT /),
      expect.stringMatching(/^TRUSTED_PROXIES /),
      expect.stringMatching(/^MASTER_KEY /),
      expect.stringMatching(/^LOG_LEVEL /),
    ]);
  });

  it('never repeats a secret in a fault', () => {
    const secret = 'a-secret-that-is-wrong';
    expect(faultsOf({ MASTER_KEY: secret, MANAGEMENT_CLIENT_SECRET: 'short-secret' }).join()).not.toMatch(
      /a-secret|short-secret/,
    );
  });

  it('starts in production with everything it demands', () => {
    expect(faultsOf(PRODUCTION)).toEqual([]);
  });

  it.each([
    ['MASTER_KEY', { MASTER_KEY: '' }],
    ['PUBLIC_SCHEME', { PUBLIC_SCHEME: 'http' }],
    ['ALLOW_PRIVATE_TARGETS', { ALLOW_PRIVATE_TARGETS: 'true' }],
    ['BASE_DOMAIN', { BASE_DOMAIN: '' }],
    ['MANAGEMENT_CLIENT_ID', { MANAGEMENT_CLIENT_ID: '', MANAGEMENT_CLIENT_SECRET: '' }],
  ])('refuses development defaults in production: %s', (name, change) => {
    expect(faultsOf({ ...PRODUCTION, ...change }).join()).toContain(name);
  });

  it('shows no secret when it is logged', () => {
    const text = JSON.stringify(parseConfig(PRODUCTION));
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('x'.repeat(32));
    expect(JSON.parse(text)).toMatchObject({ masterKey: '***', managementClientSecret: '***' });
  });

  it('takes environments with stable ids and distinct domains', () => {
    const environment = (n: number, domain: string) => ({
      id: `7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a0${n}`,
      name: `e${n}`,
      domain,
      authorizationServerDomain: `auth.${domain}`,
      region: { id: '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a02', name: 'EU01', displayName: 'Frankfurt' },
    });
    const two = [environment(1, 'a.example'), environment(2, 'b.example')];
    expect(parseConfig({ ENVIRONMENTS: JSON.stringify(two) }).environments).toMatchObject([
      { domain: 'a.example', deploymentModel: 'public', region: { name: 'eu01' } },
      { domain: 'b.example' },
    ]);
    const clash = [environment(1, 'a.example'), environment(2, 'a.example')];
    expect(faultsOf({ ENVIRONMENTS: JSON.stringify(clash) }).join()).toMatch(/occurs twice/);
    for (const bad of ['', '{', '[]', '[{}]', '[null]', '{"a":1}'].slice(1))
      expect(faultsOf({ ENVIRONMENTS: bad })).toHaveLength(1);
  });

  it('documents every variable', () => {
    for (const { env, about } of Object.values(SETTINGS)) {
      expect(env).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(about).toMatch(/\.$/);
    }
  });
});
