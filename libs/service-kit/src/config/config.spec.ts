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
  it('needs no setting in development', () => {
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

  it('accepts one address as the sender of e-mail, and does not expose the mail server', () => {
    const { mailFrom, invitationUrl } = parseConfig({ MAIL_FROM: 'Attestry <hello@one.example>' });
    expect([mailFrom, invitationUrl]).toEqual([
      'Attestry <hello@one.example>',
      'http://auth.localhost:8080/people/invitation',
    ]);
    for (const wrong of ['nobody', 'a@b@c', 'Name <a@b.example>, c@d.example', 'a@b.example\r\nBcc: c@d.example'])
      expect(faultsOf({ MAIL_FROM: wrong })).toEqual([expect.stringMatching(/^MAIL_FROM /)]);
    expect(JSON.stringify(parseConfig({ SMTP_URL: 'smtps://user:hidden@mail.example' }))).not.toContain('hidden');
    expect(faultsOf({ SMTP_URL: 'https://mail.example' })).toEqual([expect.stringMatching(/^SMTP_URL /)]);
  });

  it('has lists of values for each claim that tokens of people must have [T766]', () => {
    const issuer = { MANAGEMENT_OIDC_ISSUER: 'https://login.example' };
    expect(parseConfig(issuer).managementOidcRequiredClaims).toEqual({});
    const wanted = '{"acr":["2"],"email_verified":[true],"level":[{"a":1},null]}';
    expect(parseConfig({ ...issuer, MANAGEMENT_OIDC_REQUIRED_CLAIMS: wanted }).managementOidcRequiredClaims).toEqual(
      JSON.parse(wanted),
    );
    const faultOf = (MANAGEMENT_OIDC_REQUIRED_CLAIMS: string) =>
      faultsOf({ ...issuer, MANAGEMENT_OIDC_REQUIRED_CLAIMS }).join();
    for (const wrong of ['acr=2', '[]', 'null', '7'])
      expect(faultOf(wrong)).toMatch(/^MANAGEMENT_OIDC_REQUIRED_CLAIMS must be a JSON object from names of claims/);
    for (const wrong of ['{"acr":[]}', '{"acr":"2"}', '{"acr":null}', '{"acr":{"0":"2"}}'])
      expect(faultOf(wrong)).toBe(
        'MANAGEMENT_OIDC_REQUIRED_CLAIMS must have a list of at least one allowed value for acr',
      );
    for (const wrong of ['2 3', 'a"b', 'a\\\\b', 'é', ''])
      expect(faultOf(`{"acr":["2",${JSON.stringify(wrong)}]}`)).toMatch(/ must have texts of printable ASCII /);
    expect(faultOf('{"acr":["2"],"amr":["mfa"],"acr":["1"]}')).toContain('must not have a name twice');
    expect(faultOf('{"level":[{"a":"x:y\\":","b":{"a":1}}]}')).toBe('');
    expect(faultOf('{"acr":[2]}')).toMatch(/ must have texts of printable ASCII /);
    expect(faultOf('{"auth_time":[1]}')).toMatch(/ must not have auth_time: /);
    expect(faultsOf({ MANAGEMENT_OIDC_REQUIRED_CLAIMS: wanted })).toEqual([
      'MANAGEMENT_OIDC_ISSUER is required with MANAGEMENT_OIDC_REQUIRED_CLAIMS',
    ]);
  });

  it('has ports and inner hosts of providers [T768, T769]', () => {
    const [one, other] = [1, 2].map((n) => `2a5b1c34-52a5-4c8e-9d8a-0f9d0f0f4b0${n}`);
    expect(parseConfig({})).toMatchObject({ outboundPorts: [443], providerHosts: {} });
    expect(parseConfig({ OUTBOUND_PORTS: '443, 8443' }).outboundPorts).toEqual([443, 8443]);
    for (const OUTBOUND_PORTS of ['0', '65536', '8443-8450', 'https', '-1', '443;8443', '0x1bb', '8443.0'])
      expect(faultsOf({ OUTBOUND_PORTS })).toEqual(['OUTBOUND_PORTS must be an integer from 1 to 65535']);
    const hosts = {
      'sso.uni.example:8443': [one, other],
      'xn--bcher-kva.example:443': [one],
      'keycloak:8443': [other],
    };
    expect(parseConfig({ PROVIDER_HOSTS: JSON.stringify(hosts) }).providerHosts).toEqual(hosts);
    const faultOf = (PROVIDER_HOSTS: string) => faultsOf({ PROVIDER_HOSTS }).join();
    for (const wrong of ['x', '[]', 'null', '"sso.uni.example:8443"'])
      expect(faultOf(wrong)).toBe('PROVIDER_HOSTS must be a JSON object from host:port to lists of tenant ids');
    for (const name of [
      'sso.uni.example',
      'https://sso.uni.example:8443',
      'sso.uni.example:0',
      'sso.uni.example:08443',
      'sso.uni.example:65536',
      'sso.uni.example:8443/realms',
      'SSO.uni.example:8443',
      'bücher.example:443',
      '*.uni.example:443',
      'a@sso.uni.example:443',
      'sso.uni.example:443?',
      ':8443',
      '127.1:8443',
      '0x7f000001:443',
      '[fd00::2]:8443',
      '[::1]:8443',
    ])
      expect([name, faultOf(JSON.stringify({ [name]: [one] }))]).toEqual([
        name,
        expect.stringMatching(/^PROVIDER_HOSTS must have names such as sso\.example\.com:8443/),
      ]);
    for (const name of ['10.0.0.8:8443', 'localhost:8443', 'a.localhost:443', 'localhost.:443'])
      expect(faultOf(JSON.stringify({ [name]: [one] }))).toContain('must have host names');
    const entry = (tenants: unknown) => faultOf(JSON.stringify({ 'sso.uni.example:8443': tenants }));
    expect(entry([])).toContain('must have a list of tenant ids for sso.uni.example:8443');
    expect(entry(one)).toContain('must have a list of tenant ids for sso.uni.example:8443');
    for (const wrong of ['*', 7, null]) expect(entry([one, wrong])).toContain(`${JSON.stringify(wrong)} is not one`);
    expect(entry([one, one])).toBe('PROVIDER_HOSTS must have each tenant id once for sso.uni.example:8443');
    // JSON.parse alone would keep the last one.
    for (const repeated of ['"sso.uni.example:8443"', '"sso.uni.example:84\\u0034\\u0033"'])
      expect(faultOf(`{"sso.uni.example:8443":["${one}"],${repeated}:["${other}"]}`)).toBe(
        'PROVIDER_HOSTS must not have a name twice',
      );
  });

  it('has a built-in sign-in by default only in development and without another issuer', () => {
    const signInOf = (env: Record<string, string>) => parseConfig(env).signIn;
    expect(signInOf({})).toBe('built-in');
    expect(parseConfig({}).signInIssuer).toBe('http://auth.localhost:8080/people');
    expect(signInOf({ SIGN_IN: 'none' })).toBe('none');
    expect(parseConfig({ SIGN_IN: 'none' }).invitationUrl).toBe('http://auth.localhost:8080/invitation');
    expect(signInOf({ MANAGEMENT_OIDC_ISSUER: 'https://login.example' })).toBe('none');
    expect(signInOf(PRODUCTION)).toBe('none');
    expect(signInOf({ ...PRODUCTION, SIGN_IN: 'built-in' })).toBe('built-in');
    expect(faultsOf({ SIGN_IN: 'built-in', MANAGEMENT_OIDC_ISSUER: 'https://login.example' })).toEqual([
      expect.stringMatching(/^SIGN_IN=built-in and MANAGEMENT_OIDC_ISSUER must not be set together/),
    ]);
    const cluster = {
      ...PRODUCTION,
      NATS_URL: 'nats://one:4222',
      REDIS_URL: 'redis://one',
      DATABASE_URL: 'postgres://one',
    };
    expect(signInOf(cluster)).toBe('none');
    expect(signInOf({ ...cluster, NODE_ENV: 'development' })).toBe('none');
    expect(faultsOf({ ...cluster, SIGN_IN: 'built-in' })).toEqual([
      expect.stringMatching(/^SIGN_IN=built-in requires all services in one process/),
    ]);
    expect(faultsOf({ SIGN_IN: 'yes' })).toEqual([expect.stringMatching(/^SIGN_IN /)]);
  });

  it('reports all faults together', () => {
    expect(faultsOf({ PORT: '99999', LOG_LEVEL: 'loud', MASTER_KEY: 'short', TRUSTED_PROXIES: 'here' })).toEqual([
      expect.stringMatching(/^PORT /),
      expect.stringMatching(/^TRUSTED_PROXIES /),
      expect.stringMatching(/^MASTER_KEY /),
      expect.stringMatching(/^LOG_LEVEL /),
    ]);
  });

  it('accepts limits and logging levels per tenant, and refuses other values', () => {
    const tenant = '11111111-1111-4111-8111-111111111111';
    const config = parseConfig({
      RATE_LIMIT_TENANTS: JSON.stringify({ [tenant]: { api: 5, public: 7 } }),
      LOGGING_LEVEL_TENANTS: JSON.stringify({ [tenant]: 3 }),
    });
    expect(config.rateOverrides).toEqual({ [tenant]: { api: 5, public: 7 } });
    expect(config.loggingLevels).toEqual({ [tenant]: 3 });
    for (const RATE_LIMIT_TENANTS of ['[]', 'x', '{"acme":{}}', `{"${tenant}":{"api":"5"}}`, `{"${tenant}":{"ap":5}}`])
      expect(faultsOf({ RATE_LIMIT_TENANTS })).toEqual([expect.stringMatching(/^RATE_LIMIT_TENANTS /)]);
    for (const LOGGING_LEVEL_TENANTS of ['3', '{"acme":1}', `{"${tenant}":4}`, `{"${tenant}":"3"}`])
      expect(faultsOf({ LOGGING_LEVEL_TENANTS })).toEqual([expect.stringMatching(/^LOGGING_LEVEL_TENANTS /)]);
  });

  it('never repeats a secret in a fault', () => {
    const secret = 'a-secret-that-is-wrong';
    expect(faultsOf({ MASTER_KEY: secret, MANAGEMENT_CLIENT_SECRET: 'short-secret' }).join()).not.toMatch(
      /a-secret|short-secret/,
    );
  });

  it('starts in production with all required settings', () => {
    expect(faultsOf(PRODUCTION)).toEqual([]);
  });

  it.each([
    ['MASTER_KEY', { MASTER_KEY: '' }],
    ['PUBLIC_SCHEME', { PUBLIC_SCHEME: 'http' }],
    ['ALLOW_PRIVATE_TARGETS', { ALLOW_PRIVATE_TARGETS: 'true' }],
    ['MANAGEMENT_OIDC_ISSUER', { MANAGEMENT_OIDC_ISSUER: 'http://login.example.com' }],
    ['BASE_DOMAIN', { BASE_DOMAIN: '' }],
    ['MANAGEMENT_CLIENT_ID', { MANAGEMENT_CLIENT_ID: '', MANAGEMENT_CLIENT_SECRET: '' }],
  ])('refuses the development default of %s in production', (name, change) => {
    expect(faultsOf({ ...PRODUCTION, ...change }).join()).toContain(name);
  });

  it('contains no secret when it is logged', () => {
    const text = JSON.stringify(parseConfig(PRODUCTION));
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('x'.repeat(32));
    expect(JSON.parse(text)).toMatchObject({ masterKey: '***', managementClientSecret: '***' });
  });

  it('accepts environments with stable ids and distinct domains', () => {
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

  describe('of several processes', () => {
    const SHARED = {
      NATS_URL: 'nats://a:4222, tls://b:4222',
      DATABASE_URL: 'postgres://service:word@db/attestry',
      REDIS_URL: 'rediss://cache',
      MASTER_KEY: KEY,
      MANAGEMENT_CLIENT_ID: 'ops',
      MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
      BASE_DOMAIN: 'example.com',
    };

    it('accepts one service, or all of them', () => {
      const config = parseConfig({ ...SHARED, SERVICE: 'issuance' });
      expect(config).toMatchObject({ service: 'issuance', natsServers: ['nats://a:4222', 'tls://b:4222'] });
      expect(config.hasDataFolder).toBe(false);
      expect(faultsOf(SHARED)).toEqual([]);
      expect(faultsOf({ ...SHARED, SERVICE: 'tenants' }).join()).toMatch(
        /^SERVICE must be one of: gateway, management,/,
      );
    });

    it('requires only the settings that a service uses', () => {
      const { NATS_URL, BASE_DOMAIN } = SHARED;
      expect(faultsOf({ SERVICE: 'gateway', NATS_URL, BASE_DOMAIN, REDIS_URL: SHARED.REDIS_URL })).toEqual([]);
      const dids = { SERVICE: 'dids', NATS_URL, BASE_DOMAIN, DATABASE_URL: SHARED.DATABASE_URL, MASTER_KEY: KEY };
      expect(faultsOf(dids)).toEqual([]);
      expect(faultsOf({ ...dids, SERVICE: 'issuance' })).toEqual([expect.stringMatching(/^REDIS_URL is required/)]);
      expect(faultsOf({ ...dids, SERVICE: 'management' })).toEqual([
        expect.stringMatching(/^MANAGEMENT_CLIENT_ID is required/),
        expect.stringMatching(/^MANAGEMENT_CLIENT_SECRET is required/),
      ]);
    });

    it.each([
      ['a service without NATS', { SERVICE: 'dids', NATS_URL: '' }, /NATS_URL is required with SERVICE/],
      ['processes without a shared database', { DATABASE_URL: '' }, /DATABASE_URL is required with NATS_URL/],
      ['processes without shared rate limits', { REDIS_URL: '' }, /REDIS_URL is required with NATS_URL/],
      ['processes without a configured master key', { MASTER_KEY: '' }, /MASTER_KEY is required with NATS_URL/],
      ['processes without a configured domain', { BASE_DOMAIN: '' }, /BASE_DOMAIN or ENVIRONMENTS is required/],
      ['a password without a user', { NATS_PASSWORD: 'word' }, /NATS_PASSWORD requires NATS_USER/],
      [
        'two kinds of NATS credentials',
        { NATS_USER: 'u', NATS_CREDENTIALS_FILE: 'f' },
        /NATS_USER and NATS_CREDENTIALS_FILE must not be set together/,
      ],
      ['a NATS certificate without its key', { NATS_CERT_FILE: 'c' }, /must be set together/],
      ['a database other than PostgreSQL', { DATABASE_URL: 'mysql://db' }, /DATABASE_URL must begin with postgres:/],
      ['a schema name with SQL', { DATABASE_SCHEMA: 'a; drop' }, /DATABASE_SCHEMA must have at most 29 lower-case/],
    ])('refuses %s', (_name, change, fault) => {
      expect(faultsOf({ ...SHARED, ...change }).join('\n')).toMatch(fault);
    });

    it('does not show engine URLs, which may contain a password', () => {
      const text = JSON.stringify(parseConfig({ ...SHARED, EVENTSTORE_URL: 'esdb://user:word@es:2113' }));
      expect(text).not.toContain('word');
    });

    it('requires only engines for the migration', () => {
      const config = parseConfig({ NODE_ENV: 'production', DATABASE_URL: SHARED.DATABASE_URL }, undefined, 'migrate');
      expect(config.databaseUrl).toBe(SHARED.DATABASE_URL);
    });
  });

  it('documents every variable', () => {
    for (const { env, about } of Object.values(SETTINGS)) {
      expect(env).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(about).toMatch(/\.$/);
    }
  });
});
