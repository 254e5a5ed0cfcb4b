/** @engines embedded */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import {
  AppError,
  countDomainConfigurations,
  createOffer,
  createPreAuthorizedOffer,
  customDomainVerified,
  customDomainWithdrawn,
  exchangeToken,
  issueCredential,
  issueNonce,
  issuerDomainVerified,
  jwtVcConfigurations,
  pushAuthorization,
  reserveIssuerKey,
  retrieveBrand,
  retrieveIssuerMetadata,
  retrieveJwtVcIssuer,
  retrieveOfferContent,
  retrieveOfferQrCode,
  retrieveOpenIdConfiguration,
  sdJwtConfigurations,
  updateOpenIdConfiguration,
  type HttpAnswer,
  type NonceResponse,
  type Offer,
  type PreAuthorizedOffer,
  type Operation,
} from '@attestry/contracts';
import { encodeDidKey, encodeMultikey } from '@attestry/keys';
import { Outbound } from '@attestry/service-kit';
import { ServiceUnderTest, refusal } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { QrCodes } from '../../offers/offer-qr-codes/qr-codes.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const HOST = 'http://acme.localhost:8080';
const DOMAIN = 'acme.example';
const NAME = `http://${DOMAIN}`;
const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const service = new ServiceUnderTest(issuanceService, {
  settings: { ALLOW_PRIVATE_TARGETS: 'true' },
  baseOf: () => HOST,
});
let jwtVc: string;
let sdJwt: string;
const qrCodes = new QrCodes();
let revision = 0;

const admin = <O extends Operation>(operation: O, request: object = {}) => service.admin(operation, request, TENANT);
const ask = <O extends Operation>(
  operation: O,
  { text = '', headers = {}, params = {}, publicUrl = HOST }: Record<string, unknown> & { publicUrl?: string } = {},
) => {
  const caller = { kind: operation.access.kind === 'public' ? ('public' as const) : ('holder' as const) };
  const raw = { method: 'POST', url: '/', headers, text };
  return service.admin(operation, { params, raw }, TENANT, { caller, publicUrl });
};
const eventually = async (condition: () => Promise<boolean>): Promise<void> => {
  for (const deadline = Date.now() + 20_000; !(await condition());) {
    if (Date.now() > deadline) throw new Error('it did not come about');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

// --- the server of the domain

/** Answer of the server instead of the documents of the tenant. */
let served: (path: string) => { status?: number; body?: unknown; headers?: Record<string, string> } | undefined = () =>
  undefined;
let server: Server;
const { send } = Outbound.prototype;

const documentAt = async (path: string): Promise<unknown> => {
  if (path === '/.well-known/jwt-vc-issuer') return ask(retrieveJwtVcIssuer, { publicUrl: NAME });
  const { $http } = (await ask(retrieveIssuerMetadata, { publicUrl: NAME })) as unknown as HttpAnswer;
  return $http.body;
};

service.answer(reserveIssuerKey, async () => {
  const { keyId, publicJwk } = await service.engines.vault.signingKeys.ensureSigningKey(TENANT, 'did', 'P-256');
  const did = encodeDidKey(publicJwk);
  return {
    did,
    verificationMethod: `${did}#${encodeMultikey(publicJwk)}`,
    kmsKeyId: keyId,
    algorithm: 'P-256' as const,
  };
});
service.answer(retrieveBrand, () => ({}));

beforeAll(async () => {
  server = createServer((request, response) => {
    const replaced = served(request.url!);
    if (replaced?.status === 0) return response.destroy();
    void Promise.resolve(replaced?.body ?? documentAt(request.url!)).then(
      (body) => {
        response.writeHead(replaced?.status ?? 200, { 'content-type': 'application/json', ...replaced?.headers });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // The domain has no port, and tests may not listen on 80.
  Outbound.prototype.send = function (url, options) {
    return send.call(this, url.replace(NAME, `http://127.0.0.1:${port}`), options);
  };

  await service.open();
  const body = (type: string) => ({
    ...{ type, name: type, issuer: { name: 'Acme' } },
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  });
  jwtVc = ((await admin(jwtVcConfigurations.create, { body: body('Course') })) as { id: string }).id;
  const revocable = { ...body('Badge'), revocable: true };
  sdJwt = ((await admin(sdJwtConfigurations.create, { body: revocable })) as { id: string }).id;
});
afterAll(async () => {
  Outbound.prototype.send = send;
  await qrCodes.onApplicationShutdown();
  await service.remove();
  server.close();
});
beforeEach(() => {
  served = () => undefined;
});

const verifiedDomain = async () =>
  (await service.engines.streams.load(withdrawnDomains, withdrawnDomainsStream(TENANT))).state.verified;
const publish = (type: typeof customDomainVerified, at = ++revision, domain = DOMAIN) =>
  service.engines.bus.publish([
    { id: `${type.name} ${at}`, subject: type.subject, data: { tenantId: TENANT, domain, revision: at } },
  ]);
const verify = async () => {
  await publish(customDomainVerified);
  await eventually(async () => (await verifiedDomain()) === DOMAIN);
};
const issuerName = async () => (await admin(retrieveOpenIdConfiguration)).issuerName;
const withdraw = async () => {
  await publish(customDomainWithdrawn);
  await eventually(async () => (await verifiedDomain()) === undefined && (await issuerName()) === 'host');
};
const rename = (name: string | null) => admin(updateOpenIdConfiguration, { body: { issuerName: name } });

const offer = (id: string) =>
  admin(createPreAuthorizedOffer, {
    body: { credentials: [id], claims: { given_name: 'Ada' } },
  }) as Promise<PreAuthorizedOffer>;
const documentOf = ({ uri }: Pick<Offer, 'uri'>) =>
  JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    credential_issuer: string;
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
const redeem = (made: PreAuthorizedOffer, more: [string, string][] = []) =>
  ask(exchangeToken, {
    headers: FORM,
    text: new URLSearchParams([
      ['grant_type', GRANT],
      ['pre-authorized_code', documentOf(made).grants[GRANT]!['pre-authorized_code']],
      ...more,
    ]).toString(),
  });
const collect = async (token: string, id: string, aud: unknown): Promise<string> => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { $http } = (await ask(issueNonce)) as unknown as HttpAnswer;
  const proof = await new SignJWT({ nonce: ($http.body as NonceResponse).c_nonce, iat: Math.floor(Date.now() / 1000) })
    .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: publicKey.export({ format: 'jwk' }) })
    .setAudience(aud as string)
    .sign(privateKey);
  const { credentials } = await ask(issueCredential, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    text: JSON.stringify({ credential_configuration_id: id, proofs: { jwt: [proof] } }),
  });
  return credentials[0]!.credential as string;
};
const details = (...locations: unknown[]): [string, string] => [
  'authorization_details',
  JSON.stringify([{ type: 'openid_credential', credential_configuration_id: jwtVc, locations }]),
];
/** Sends a pushed request with a code challenge: unregistered wallets are allowed, so that it is accepted. */
const push = (...more: [string, string][]) =>
  ask(pushAuthorization, {
    headers: FORM,
    text: new URLSearchParams([
      ...([
        ['client_id', 'https://wallet.example'],
        ['redirect_uri', 'https://wallet.example/back'],
        ['response_type', 'code'],
        ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
        ['code_challenge_method', 'S256'],
      ] as [string, string][]),
      ...more,
    ]).toString(),
  });

describe('the names of an issuer', () => {
  const target = async (promise: Promise<unknown>) =>
    promise.then(
      () => 'accepted',
      (error: AppError) => error.code,
    );
  const outcomes = async (name: string) => ({
    aud: await target(redeem(await offer(jwtVc)).then(({ access_token }) => collect(access_token, jwtVc, name))),
    token: await target(offer(jwtVc).then((made) => redeem(made, [['resource', name]]))),
    tokenDetails: await target(offer(jwtVc).then((made) => redeem(made, [details(name)]))),
    pushed: await target(push(['scope', 'jwt_vc_json:Course'], ['resource', name])),
    pushedDetails: await target(push(details(name))),
  });
  const all = (outcome: string) => ({
    ...{ aud: outcome, token: outcome, tokenDetails: outcome, pushed: outcome, pushedDetails: outcome },
  });
  const REFUSED = {
    aud: 'invalid_proof',
    token: 'invalid_target',
    tokenDetails: 'invalid_authorization_details',
    pushed: 'invalid_target',
    pushedDetails: 'invalid_authorization_details',
  };

  it('are the host, and the custom domain while it is verified, also with the slash of the empty path [T591] [T592] [T742]', async () => {
    expect(await outcomes(HOST)).toEqual(all('accepted'));
    expect(await outcomes(NAME)).toEqual(REFUSED);
    await verify();
    expect(await outcomes(NAME)).toEqual(all('accepted'));
    expect(await outcomes(HOST)).toEqual(all('accepted'));
    for (const name of [HOST, NAME]) expect(await outcomes(`${name}/`)).toEqual(all('accepted'));
    for (const other of [`${NAME}//`, `${HOST}//`, `${NAME}/?`, 'https://acme.example', DOMAIN, 'http://other.example'])
      expect(await outcomes(other)).toEqual(REFUSED);
    expect(
      await target(
        redeem(await offer(jwtVc), [
          ['resource', HOST],
          ['resource', NAME],
          ['resource', ''],
        ]),
      ),
    ).toBe('accepted');
    await withdraw();
    expect(await outcomes(NAME)).toEqual(REFUSED);
    expect(await outcomes(HOST)).toEqual(all('accepted'));
  });

  it('are one in a proof with a list, and none in a list of two [T591]', async () => {
    await verify();
    const outcome = async (aud: unknown) =>
      target(redeem(await offer(jwtVc)).then(({ access_token }) => collect(access_token, jwtVc, aud)));
    expect(await outcome([NAME])).toBe('accepted');
    expect(await outcome([NAME, HOST])).toBe('invalid_proof');
    await withdraw();
  });

  it('are known of a domain by the event of the second publisher of release 0.2.0, too [T590]', async () => {
    await publish(issuerDomainVerified);
    await eventually(async () => (await verifiedDomain()) === DOMAIN);
    expect((await outcomes(NAME)).aud).toBe('accepted');
    const at = revision;
    await withdraw();
    // Late.
    await publish(issuerDomainVerified, at);
    await publish(issuerDomainVerified, revision + 1, 'next.example');
    revision++;
    await eventually(async () => (await verifiedDomain()) === 'next.example');
    await publish(customDomainWithdrawn, ++revision, 'next.example');
    await eventually(async () => (await verifiedDomain()) === undefined);
  });
});

describe('issuerName', () => {
  const fault = async () => {
    const { details: [detail] = [] } = await refusal(rename('domain'));
    expect(detail).toMatchObject({ param: 'issuerName', location: 'body', value: 'domain' });
    return detail!.msg;
  };

  it('is host or domain, and domain needs a verified one [T593]', async () => {
    expect(await issuerName()).toBe('host');
    expect(await fault()).toBe(
      'must not be domain: the tenant has no verified custom domain; one is known a few seconds after its verification',
    );
    for (const name of ['', 'HOST', 'acme.example', 1])
      expect((await refusal(rename(name as string))).details).toMatchObject([
        { param: 'issuerName', msg: 'must be one of: host, domain; or null for the default' },
      ]);
    expect((await rename('host')).issuerName).toBe('host');
  });

  it('is domain only where both documents are those of the tenant; otherwise the answer says what was found [T594]', async () => {
    await verify();
    const metadata = '/.well-known/openid-credential-issuer';
    const keys = '/.well-known/jwt-vc-issuer';
    const good = { [metadata]: await documentAt(metadata), [keys]: undefined as unknown };
    const key = { kid: 'x' };
    const foundAt = async (
      path: string,
      answer: { status?: number; body?: unknown; headers?: Record<string, string> },
    ) => {
      served = (requested) => (requested === path ? answer : undefined);
      return (await fault()).replace(`must not be domain: ${NAME}${path} `, '');
    };
    for (const path of [metadata, keys]) {
      expect(await foundAt(path, { status: 404, body: {} })).toBe('was answered with status 404');
      expect(await foundAt(path, { status: 301, body: {}, headers: { location: 'http://10.0.0.1/' } })).toBe(
        'was answered with the redirect 301; the document must be served there',
      );
      expect(await foundAt(path, { body: '<html>' })).toBe('is not JSON');
      expect(await foundAt(path, { body: '[]' })).toBe('is not a JSON object');
      expect(await foundAt(path, { status: 0 })).toBe('could not be fetched');
      expect(await foundAt(path, { body: `"${'x'.repeat(5_000_000)}"` })).toBe('has more than 4194304 bytes');
    }
    expect(await foundAt(metadata, { body: { ...(good[metadata] as object), credential_issuer: HOST } })).toBe(
      `has credential_issuer "${HOST}" instead of ${NAME}`,
    );
    expect(await foundAt(metadata, { body: { credential_issuer: NAME, authorization_servers: ['http://x'] } })).toBe(
      `has authorization_servers ["http://x"] instead of ["${HOST}"]`,
    );
    expect(await foundAt(metadata, { body: { credential_issuer: 'x'.repeat(999) } })).toHaveLength(
      'has credential_issuer '.length + 201 + ` instead of ${NAME}`.length,
    );
    expect(await foundAt(keys, { body: { issuer: HOST } })).toBe(`has issuer "${HOST}" instead of ${NAME}`);
    for (const jwks of [undefined, {}, { keys: 1 }, { keys: [null] }, { keys: [key] }])
      expect(await foundAt(keys, { body: { issuer: NAME, jwks } })).toBe(
        'does not have the key that signs credentials',
      );
    expect(await issuerName()).toBe('host');
    expect(documentOf(await offer(sdJwt)).credential_issuer).toBe(HOST);
    await withdraw();
  });

  it('is the pin of new sessions and offers, and ends with the domain [T595] [T596] [T597]', async () => {
    await verify();
    const before = await offer(sdJwt);
    expect((await rename('domain')).issuerName).toBe('domain');
    const made = await offer(sdJwt);
    expect([before, made].map((one) => documentOf(one).credential_issuer)).toEqual([HOST, NAME]);
    // Offer references stay at the host.
    expect(new URL(made.uriByReference!).searchParams.get('credential_offer_uri')).toMatch(`${HOST}/v1/openid/offers/`);
    expect(made.qrUrl).toMatch(`${HOST}/v1/openid/offers/`);
    const open = (await admin(createOffer, { body: { credentials: [sdJwt] } })) as Offer;
    expect(documentOf(open).credential_issuer).toBe(NAME);
    const byReference = new URL(open.uriByReference!).searchParams.get('credential_offer_uri')!;
    expect(byReference).toMatch(`${HOST}/v1/openid/offers/`);
    const reference = byReference.split('/').at(-2)!;
    expect(await ask(retrieveOfferContent, { params: { reference } })).toMatchObject({ credential_issuer: NAME });
    for (const { qrUrl, uriByReference } of [made, open]) {
      const params = { reference: qrUrl!.split('/').at(-2)! };
      const shown = (await ask(retrieveOfferQrCode, { params })) as HttpAnswer;
      const expected = await qrCodes.render('t1', uriByReference!, 'image/svg+xml');
      expect(Buffer.from(shown.$http.base64!, 'base64').toString()).toBe(expected.toString());
    }

    for (const [one, iss] of [
      [before, HOST],
      [made, NAME],
    ] as const) {
      const { access_token } = await redeem(one);
      const credential = (await collect(access_token, sdJwt, NAME)).split('~', 1)[0]!;
      expect(decodeJwt(credential)).toMatchObject({
        iss,
        vct: `${HOST}/v1/openid/types/Badge/1`,
        status: { status_list: { uri: expect.stringMatching(`^${HOST}/`) } },
      });
      const [leaf] = (decodeProtectedHeader(credential) as { x5c: string[] }).x5c;
      expect(new X509Certificate(Buffer.from(leaf!, 'base64')).subjectAltName).toContain(`URI:${iss}`);
    }
    // Each address describes itself.
    for (const publicUrl of [HOST, NAME]) {
      const { $http: answer } = (await ask(retrieveIssuerMetadata, { publicUrl })) as unknown as HttpAnswer;
      expect((answer.body as { credential_issuer: string }).credential_issuer).toBe(publicUrl);
    }
    expect(
      await service
        .clientOf('tenant-config')
        .call(countDomainConfigurations, { body: { domain: DOMAIN } }, service.asClient(TENANT)),
    ).toEqual({ activeConfigurations: 1 });

    const ended = [await offer(sdJwt), await offer(jwtVc), await offer(jwtVc)];
    await withdraw();
    expect(documentOf(await offer(sdJwt)).credential_issuer).toBe(HOST);
    const tokens = await Promise.all(ended.map(async (one) => (await redeem(one)).access_token));
    expect(await refusal(collect(tokens[0]!, sdJwt, HOST))).toMatchObject({ code: 'credential_request_denied' });
    // Pinned, and withdrawn: another party may have the domain.
    expect(await refusal(collect(tokens[1]!, jwtVc, NAME))).toMatchObject({ code: 'invalid_proof' });
    expect(await collect(tokens[2]!, jwtVc, HOST)).toEqual(expect.any(String));
    // A domain that is verified again is not the name until it is set again.
    await verify();
    expect(await issuerName()).toBe('host');
    expect(documentOf(await offer(sdJwt)).credential_issuer).toBe(HOST);
    await rename('domain');
    expect((await rename(null)).issuerName).toBe('host');
    await withdraw();
  });
});
