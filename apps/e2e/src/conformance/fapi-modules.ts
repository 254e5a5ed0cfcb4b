import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import {
  ApiClient,
  expectStatus,
  hostFetch,
  makeHolderKey,
  ProtocolWallet,
  RedirectBrowser,
  waitUntil,
  type Answer,
  type OAuthFault,
} from '@attestry/testing';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { SD_JWT_SCOPE, type IssuerUnderTest, type Profile } from './issuer-under-test.js';

/** Names under localhost need not resolve. */
const toLoopback: LookupFunction = (_host, { all }, done) =>
  all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
const CREDENTIAL = '/v1/openid/credential';
const seconds = () => Math.floor(Date.now() / 1000);

/**
 * The modules `fapi2-security-profile-final-*` that the plan for HAIP runs with scope, client attestation and DPoP. Modules on TLS are for the proxy in
 * front of the platform. What FAPI 2.0 requires and the profile `default` leaves to settings is switched on: PAR for the tenant, DPoP for the client.
 * @param expire makes the clock of the platform `ms` milliseconds ahead
 */
export const describeFapiModules = (
  profile: Profile,
  issuerUnderTest: () => IssuerUnderTest,
  expire: (ms: number) => Promise<unknown>,
): void =>
  describe('the FAPI 2.0 security profile in the plan for HAIP', () => {
    const readServerMetadata = async () =>
      (
        await new ApiClient(issuerUnderTest().tenant.url).request<Record<string, unknown>>(
          'GET',
          '/.well-known/oauth-authorization-server',
        )
      ).body;
    if (profile === 'default')
      beforeAll(async () => {
        const { openIdConfiguration } = issuerUnderTest().tenant.api;
        expectStatus(await openIdConfiguration.update({ requirePushedAuthorizationRequests: true }), 200);
        const isRequired = async () => (await readServerMetadata())['require_pushed_authorization_requests'];
        await waitUntil(isRequired, { what: 'the setting' });
      });

    const fault = ({ status, body }: Answer<OAuthFault>) => [status, body.error];
    /** An error page instead of a redirect: status and error. */
    const pageFault = async (url: string) => {
      const answer = await hostFetch(url, { redirect: 'manual' });
      const [, error] = /<dd>([a-z_]+)<\/dd>/.exec(await answer.text()) ?? [];
      return [answer.status, answer.headers.get('location'), error];
    };
    const push = (more: Record<string, string | undefined> = {}) => {
      const { wallet } = issuerUnderTest();
      return wallet.push(wallet.parameters(SD_JWT_SCOPE, more));
    };
    const pushed = async (more: Record<string, string | undefined> = {}) =>
      expectStatus(await push(more), 201).request_uri;
    /** Status of a correct credential request, but for the headers. */
    const collect = async (token: string, headers: Record<string, string> = {}) => {
      const { wallet, sdJwt } = issuerUnderTest();
      const proofs = { jwt: [await wallet.keyProof(await makeHolderKey())] };
      return wallet.requestCredential(token, { credential_configuration_id: sdJwt, proofs }, headers);
    };

    it('fapi2-security-profile-final-discovery-end-point-verification [T471]', async () => {
      const { tenant } = issuerUnderTest();
      const attested = ['attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'];
      const others = profile === 'haip' ? [] : ['none'];
      const body = await readServerMetadata();
      expect(body).toMatchObject({
        issuer: tenant.url,
        authorization_endpoint: `${tenant.url}/v1/oauth/authorize`,
        pushed_authorization_request_endpoint: `${tenant.url}/v1/oauth/par`,
        token_endpoint: `${tenant.url}/v1/oauth/token`,
        require_pushed_authorization_requests: true,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        dpop_signing_alg_values_supported: ['ES256'],
        token_endpoint_auth_methods_supported: [...others, ...attested],
        client_attestation_signing_alg_values_supported: ['ES256'],
        client_attestation_pop_signing_alg_values_supported: ['ES256'],
      });
      expect(body['grant_types_supported']).toContain('authorization_code');
    });

    it('fapi2-security-profile-final-happy-flow [T471]', async () => {
      const { wallet, secondWallet, sdJwt } = issuerUnderTest();
      for (const one of [wallet, secondWallet]) {
        const token = await one.obtainToken(SD_JWT_SCOPE);
        expect(await one.credentials(token, sdJwt, await makeHolderKey())).toHaveLength(1);
      }
    });

    it('fapi2-security-profile-final-user-rejects-authentication [T471]', async () => {
      const { wallet, tenant } = issuerUnderTest();
      // Without a hint the person cancels at the provider.
      const parameters = wallet.parameters(SD_JWT_SCOPE, { login_hint: undefined });
      const back = await wallet.authorize(expectStatus(await wallet.push(parameters), 201).request_uri);
      const { error, state, iss, code } = Object.fromEntries(back.searchParams);
      expect([error, state, iss, code]).toEqual(['access_denied', parameters['state'], tenant.url, undefined]);
    });

    it('fapi2-security-profile-final-ensure-authorization-request-without-state-success [T471]', async () => {
      const back = await issuerUnderTest().wallet.authorize(await pushed({ state: undefined }));
      expect([back.searchParams.has('code'), back.searchParams.has('state')]).toEqual([true, false]);
    });

    it('fapi2-security-profile-final-access-token-type-header-case-sensitivity [T471]', async () => {
      const token = await issuerUnderTest().wallet.obtainToken(SD_JWT_SCOPE);
      for (const scheme of ['dpop', 'DPOP', 'DPoP'])
        expect((await collect(token, { authorization: `${scheme} ${token}` })).status).toBe(200);
    });

    /** PAR, token and credential endpoint with these claims in the DPoP proofs: the statuses. */
    const withProofs = async (claims: () => object) => {
      const { wallet } = issuerUnderTest();
      const dpop = (path: string, token?: string) => wallet.dpop(path, { claims: { ...claims() } }, token);
      const code = await wallet.obtainCode(SD_JWT_SCOPE, {}, { dpop: await dpop('/v1/oauth/par') });
      const exchanged = await wallet.exchange(code, {}, { dpop: await dpop('/v1/oauth/token') });
      const token = exchanged.body.access_token;
      return [exchanged.status, (await collect(token, { dpop: await dpop(CREDENTIAL, token) })).status];
    };

    it('fapi2-security-profile-final-check-dpop-proof-nbf-exp [T471]', async () =>
      expect(await withProofs(() => ({ nbf: seconds(), exp: seconds() + 60 }))).toEqual([200, 200]));

    it('fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-before-succeeds [T471]', async () =>
      expect(await withProofs(() => ({ iat: seconds() - 10 }))).toEqual([200, 200]));

    it('fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-after-succeeds [T471]', async () =>
      expect(await withProofs(() => ({ iat: seconds() + 10 }))).toEqual([200, 200]));

    it('fapi2-security-profile-final-ensure-mismatched-dpop-jkt-fails [T471]', async () => {
      const other = await calculateJwkThumbprint((await makeHolderKey()).publicJwk);
      expect(fault(await push({ dpop_jkt: other }))).toEqual([400, 'invalid_dpop_proof']);
    });

    it('fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      const dpop = await wallet.dpop('/v1/oauth/token', { by: await makeHolderKey() });
      expect(fault(await wallet.exchange(code, {}, { dpop }))).toEqual([400, 'invalid_dpop_proof']);
    });

    it('fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-jkt [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const dpop_jkt = await calculateJwkThumbprint((await makeHolderKey()).publicJwk);
      const code = await wallet.obtainCode(SD_JWT_SCOPE, { dpop_jkt }, { dpop: null });
      expect(fault(await wallet.exchange(code))).toEqual([400, 'invalid_dpop_proof']);
    });

    it('fapi2-security-profile-final-ensure-dpopproof-at-par-endpoint-binding-success [T471]', async () => {
      const { wallet } = issuerUnderTest();
      expect((await wallet.exchange(await wallet.obtainCode(SD_JWT_SCOPE))).body.token_type).toBe('DPoP');
    });

    it('fapi2-security-profile-final-ensure-dpop-auth-code-binding-success [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const dpop_jkt = await calculateJwkThumbprint(wallet.dpopKey.publicJwk);
      for (const sent of [{}, { dpop: null }]) {
        const code = await wallet.obtainCode(SD_JWT_SCOPE, { dpop_jkt }, sent);
        expect((await wallet.exchange(code)).body.token_type).toBe('DPoP');
      }
    });

    it('fapi2-security-profile-final-ensure-different-state-inside-and-outside-request-object [T471]', async () => {
      const back = await issuerUnderTest().wallet.authorize(await pushed({ state: 'inside' }), undefined, {
        state: 'outside',
      });
      expect(back.searchParams.get('state')).toBe('inside');
    });

    it('fapi2-security-profile-final-ensure-authorization-request-with-long-state [T471]', async () => {
      const state = 'x'.repeat(1000);
      const back = await issuerUnderTest().wallet.authorize(await pushed({ state }));
      expect([back.searchParams.has('code'), back.searchParams.get('state')]).toEqual([true, state]);
    });

    it('fapi2-security-profile-final-state-only-outside-request-object-not-used [T471]', async () => {
      const back = await issuerUnderTest().wallet.authorize(await pushed({ state: undefined }), undefined, {
        state: 'outside',
      });
      expect([back.searchParams.has('code'), back.searchParams.has('state')]).toEqual([true, false]);
    });

    it('fapi2-security-profile-final-ensure-request-object-without-redirect-uri-fails [T471]', async () =>
      expect(fault(await push({ redirect_uri: undefined }))).toEqual([400, 'invalid_request']));

    it('fapi2-security-profile-final-ensure-redirect-uri-in-authorization-request [T471]', async () =>
      expect(fault(await push({ redirect_uri: undefined }))).toEqual([400, 'invalid_request']));

    it('fapi2-security-profile-final-plain-fapi-tolerate-unregistered-redirect-uri [T471]', async () => {
      const redirect_uri = `${issuerUnderTest().wallet.clientId}/never-registered`;
      const back = await issuerUnderTest().wallet.authorize(await pushed({ redirect_uri }));
      expect([back.searchParams.has('code'), back.pathname]).toEqual([true, '/never-registered']);
    });

    it('fapi2-security-profile-final-ensure-unsigned-authorization-request-without-using-par-fails [T458] [T471]', async () => {
      const { wallet } = issuerUnderTest();
      // The redirect URI belongs to the client only in a pushed request: the error is shown on a page.
      expect(await pageFault(wallet.authorizationUrl(wallet.parameters(SD_JWT_SCOPE)))).toEqual([
        400,
        null,
        'invalid_request',
      ]);
    });

    it('fapi2-security-profile-final-ensure-response-type-code-idtoken-fails [T471]', async () =>
      expect(fault(await push({ response_type: 'code id_token' }))).toEqual([400, 'unsupported_response_type']));

    it('fapi2-security-profile-final-ensure-response-type-token-fails [T471]', async () =>
      expect(fault(await push({ response_type: 'token' }))).toEqual([400, 'unsupported_response_type']));

    it('fapi2-security-profile-final-ensure-client-id-in-token-endpoint [T471]', async () => {
      const { wallet, secondWallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      expect(fault(await wallet.exchange(code, { client_id: secondWallet.clientId }))).toEqual([401, 'invalid_client']);
    });

    it('fapi2-security-profile-final-ensure-holder-of-key-required [T459] [T471]', async () => {
      const { wallet, tenant, attester } = issuerUnderTest();
      const isHaip = profile === 'haip';
      const clientId = 'https://bound.wallet.example';
      const bound = isHaip ? wallet : await ProtocolWallet.create(tenant.url, clientId, attester);
      const sent = isHaip ? {} : { attestation: null, pop: null };
      if (!isHaip) {
        const { redirectUri } = bound;
        const registration = { name: 'Bound', clientId, redirectUris: [redirectUri], dpopRequired: true };
        expectStatus(await tenant.api.wallets.create(registration), 201);
      }
      const code = await bound.obtainCode(SD_JWT_SCOPE, {}, { ...sent, dpop: null });
      expect(fault(await bound.exchange(code, {}, { ...sent, dpop: null }))).toEqual([400, 'invalid_dpop_proof']);
      expect((await bound.exchange(code, {}, sent)).status).toBe(200);
    });

    it('fapi2-security-profile-final-ensure-authorization-code-is-bound-to-client [T471]', async () => {
      const { wallet, secondWallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE, {}, { dpop: null });
      const more = { redirect_uri: wallet.redirectUri, code_verifier: wallet.codeVerifier };
      expect(fault(await secondWallet.exchange(code, more))).toEqual([400, 'invalid_grant']);
    });

    it('fapi2-security-profile-final-attempt-reuse-authorization-code-after-one-second [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      const { access_token: token } = expectStatus(await wallet.exchange(code), 200);
      await expire(1000);
      expect(fault(await wallet.exchange(code))).toEqual([400, 'invalid_grant']);
      // RFC 6749 §4.1.2: what was issued from it ends.
      expect(fault(await collect(token))).toEqual([401, 'invalid_token']);
      await expire(0);
    });

    it('fapi2-security-profile-final-dpop-negative-tests [T471]', async () => {
      const { wallet, tenant } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      const htu = `${tenant.url}${CREDENTIAL}`;
      const proof = (change: Parameters<typeof wallet.dpop>[1] = {}) => wallet.dpop(CREDENTIAL, change, token);
      const statusWith = async (dpop: string) => (await collect(token, { dpop })).status;
      const refused: Parameters<typeof wallet.dpop>[1][] = [
        ...['typ', 'alg', 'jwk'].map((name) => ({ header: { [name]: undefined } })),
        ...['jti', 'htm', 'htu', 'iat', 'ath'].map((name) => ({ claims: { [name]: undefined } })),
        { header: { typ: 'JWT' } },
        { header: { alg: 'RS256' } },
        { header: { alg: 'none' } },
        { header: { jwk: await exportJWK(wallet.dpopKey.privateKey) } },
        { header: { jwk: (await makeHolderKey()).publicJwk } },
        { claims: { htm: 'PUT' } },
        { claims: { htu: 'https://other.example/' } },
        { claims: { iat: seconds() + 3600 } },
        { claims: { iat: seconds() - 3600 } },
        { claims: { ath: 'A'.repeat(43) } },
        { by: await makeHolderKey() },
      ];
      for (const change of refused) expect([change, await statusWith(await proof(change))]).toEqual([change, 401]);
      for (const dpop of ['not.a.jwt', '', `${await proof()}, ${await proof()}`])
        expect(await statusWith(dpop)).toBe(401);
      const [header, claims] = (await proof()).split('.');
      expect(await statusWith(`${header}.${claims}.`)).toBe(401);
      const spent = await proof();
      expect([await statusWith(spent), await statusWith(spent)]).toEqual([200, 401]);
      for (const change of [
        { claims: { htu: `${htu}?query#fragment` } },
        { claims: { htu: htu.replace(new URL(htu).origin, (origin) => origin.toUpperCase()) } },
        { claims: { extra: 'claim' }, header: { extra: 'parameter' } },
      ])
        expect([change, await statusWith(await proof(change))]).toEqual([change, 200]);
      const plain = (authorization: string) =>
        hostFetch(htu, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' });
      for (const scheme of ['DPoP', 'Bearer']) {
        const { status, headers } = await plain(`${scheme} ${token}`);
        expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^DPoP error=/)]);
      }
      // fetch writes names of headers in lower case.
      const inCapitals = { authorization: `DPoP ${token}`, DPOP: await proof(), 'content-type': 'application/json' };
      const sent = request(htu, { lookup: toLoopback, method: 'POST', headers: inCapitals }).end('{}');
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      // The proof is accepted, the empty request is not.
      expect(response.statusCode).toBe(400);
      expect(await statusWith(await proof())).toBe(200);
    });

    it('fapi2-security-profile-final-refresh-token [T471]', async () => {
      const { wallet, secondWallet, attester } = issuerUnderTest();
      const first = expectStatus(await wallet.exchange(await wallet.obtainCode(SD_JWT_SCOPE)), 200);
      const { refresh_token } = first as unknown as { refresh_token: string };
      expect(refresh_token).toMatch(/^[\x20-\x7e]+$/);
      const grant = { grant_type: 'refresh_token', refresh_token, code: undefined, redirect_uri: undefined };
      const refresh = (sent = {}, by = wallet) => by.exchange('', { ...grant, code_verifier: undefined }, sent);
      // The client authenticates by its attested key, and each refresh has a DPoP key of its own (RFC 9449 §5).
      const [by, other] = [await makeHolderKey(), await makeHolderKey()];
      const dpop = await wallet.dpop('/v1/oauth/token', { by });
      const { access_token: token, token_type: type } = expectStatus(await refresh({ dpop }), 200);
      expect([type, (await collect(token)).status]).toEqual(['DPoP', 401]);
      expect((await collect(token, { dpop: await wallet.dpop(CREDENTIAL, { by }, token) })).status).toBe(200);
      const attestation = await attester.attest(wallet.clientId, other.publicJwk);
      const refused = [
        await refresh({ attestation, pop: await wallet.pop({ by: other }) }),
        await refresh({ attestation: null, pop: null }),
        await refresh({ dpop: null }),
        await refresh({}, secondWallet),
      ];
      expect(refused.map(fault)).toEqual([
        [400, 'invalid_grant'],
        [401, 'invalid_client'],
        [400, 'invalid_dpop_proof'],
        [400, 'invalid_grant'],
      ]);
    });

    it('fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const requestUri = await pushed();
      expect((await new RedirectBrowser().openUrl(wallet.authorizationUrl({ request_uri: requestUri }))).status).toBe(
        302,
      );
      expect((await wallet.authorize(requestUri)).searchParams.has('code')).toBe(true);
    });

    it('fapi2-security-profile-final-par-attempt-reuse-request_uri [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const request_uri = await pushed();
      expect((await wallet.authorize(request_uri)).searchParams.has('code')).toBe(true);
      expect(await pageFault(wallet.authorizationUrl({ request_uri }))).toEqual([400, null, 'invalid_request_uri']);
    });

    it('fapi2-security-profile-final-par-attempt-to-use-request_uri-for-different-client [T471]', async () => {
      const url = issuerUnderTest().secondWallet.authorizationUrl({ request_uri: await pushed() });
      expect(await pageFault(url)).toEqual([400, null, 'invalid_request']);
    });

    it('fapi2-security-profile-final-par-authorization-request-containing-request_uri-form-param [T471]', async () =>
      expect(fault(await push({ request_uri: 'urn:ietf:params:oauth:request_uri:x' }))).toEqual([
        400,
        'invalid_request',
      ]));

    it('fapi2-security-profile-final-par-attempt-invalid-http-method [T471]', async () => {
      const { wallet } = issuerUnderTest();
      for (const method of ['PUT', 'GET', 'DELETE'])
        expect([method, (await wallet.push(wallet.parameters(SD_JWT_SCOPE), {}, method)).status]).toEqual([
          method,
          405,
        ]);
    });

    it('fapi2-security-profile-final-par-ensure-pkce-required [T471]', async () =>
      expect(fault(await push({ code_challenge: undefined, code_challenge_method: undefined }))).toEqual([
        ...[400, 'invalid_request'],
      ]));

    it('fapi2-security-profile-final-par-plain-pkce-rejected [T471]', async () =>
      expect(fault(await push({ code_challenge_method: 'plain' }))).toEqual([400, 'invalid_request']));

    it('fapi2-security-profile-final-ensure-pkce-code-verifier-required [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      expect(fault(await wallet.exchange(code, { code_verifier: undefined }))).toEqual([400, 'invalid_grant']);
    });

    it('fapi2-security-profile-final-incorrect-pkce-code-verifier-rejected [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      expect(fault(await wallet.exchange(code, { code_verifier: 'x'.repeat(43) }))).toEqual([400, 'invalid_grant']);
    });

    it('fapi2-security-profile-final-par-without-duplicate-parameters [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const request_uri = await pushed();
      expect([...new URL(wallet.authorizationUrl({ request_uri })).searchParams.keys()]).toEqual([
        'client_id',
        'request_uri',
      ]);
      expect((await wallet.authorize(request_uri)).searchParams.has('code')).toBe(true);
    });

    // Last, because the clock moves.
    it('fapi2-security-profile-final-ensure-token-endpoint-fails-with-expired-auth-code [T471]', async () => {
      const { wallet } = issuerUnderTest();
      const code = await wallet.obtainCode(SD_JWT_SCOPE);
      await expire(61_000);
      expect(fault(await wallet.exchange(code))).toEqual([400, 'invalid_grant']);
      await expire(0);
    });

    it('fapi2-security-profile-final-par-attempt-to-use-expired-request_uri [T471]', async () => {
      const url = issuerUnderTest().wallet.authorizationUrl({ request_uri: await pushed() });
      await expire(61_000);
      expect(await pageFault(url)).toEqual([400, null, 'invalid_request_uri']);
      await expire(0);
    });
  });
