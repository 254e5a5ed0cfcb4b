import { randomUUID, X509Certificate } from 'node:crypto';
import {
  ApiClient,
  expectStatus,
  hostFetch,
  makeHolderKey,
  mdocStatus,
  mdocTraces,
  verifyMdoc,
  verifyMdocStatus,
  verifySdJwt,
  waitUntil,
  Wallet,
  WalletProvider,
  withBrokenSignature,
  type HolderKey,
} from '@attestry/testing';
import {
  compactDecrypt,
  CompactEncrypt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  type JWK,
} from 'jose';
import {
  DOC_TYPE,
  MDOC_SCOPE,
  SD_JWT_SCOPE,
  withConfiguration,
  type IssuerUnderTest,
  type Profile,
} from './issuer-under-test.js';

interface Metadata extends Record<string, unknown> {
  credential_configurations_supported: Record<string, Record<string, unknown> & { scope: string; format: string }>;
  credential_request_encryption: {
    jwks: { keys: JWK[] };
    enc_values_supported: string[];
    encryption_required: boolean;
  };
  credential_response_encryption: { alg_values_supported: string[]; enc_values_supported: string[] };
  batch_credential_issuance: { batch_size: number };
}
/** RFC 6749 §3.3 */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const ISSUER_METADATA = '/.well-known/openid-credential-issuer';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';
/** OID4VCI 1.0 §12.2.4, and of signed metadata §12.2.3 */
const METADATA_MEMBERS = new Set([
  ...['credential_issuer', 'authorization_servers', 'credential_endpoint', 'nonce_endpoint', 'display'],
  ...['deferred_credential_endpoint', 'notification_endpoint', 'credential_request_encryption'],
  ...['credential_response_encryption', 'batch_credential_issuance', 'credential_configurations_supported'],
  ...['mdoc_iacas_uri', 'iss', 'sub', 'iat', 'exp'],
]);
/** OID4VCI 1.0 §12.2.4, Appendix A.2.2 and A.3.2 */
const CONFIGURATION_MEMBERS = new Set([
  ...['format', 'scope', 'credential_signing_alg_values_supported', 'cryptographic_binding_methods_supported'],
  ...['proof_types_supported', 'credential_metadata', 'vct', 'doctype'],
]);
const seconds = () => Math.floor(Date.now() / 1000);

/** The modules `oid4vci-1_0-issuer-*` of the conformance suite, which apply to both profiles. */
export const describeIssuerModules = (profile: Profile, issuerUnderTest: () => IssuerUnderTest): void =>
  describe('the plan of issuers', () => {
    const read = async <T>(path: string, accept = 'application/json') =>
      expectStatus(
        await new ApiClient(issuerUnderTest().tenant.url).request<T>('GET', path, { headers: { accept } }),
        200,
      );

    /** VCI §12.2.4, HAIP 1.0 §4.1 */
    const checkMetadata = (metadata: Metadata) => {
      const { tenant, sdJwt, mdoc } = issuerUnderTest();
      expect(metadata).toMatchObject({
        credential_issuer: tenant.url,
        credential_endpoint: `${tenant.url}/v1/openid/credential`,
        nonce_endpoint: `${tenant.url}/v1/openid/nonce`,
      });
      expect(metadata.batch_credential_issuance.batch_size).toBeGreaterThanOrEqual(2);
      const supported = metadata.credential_configurations_supported;
      // The suite warns of unknown members; `mdoc_iacas_uri` is an extension of the specification. Members for drafts are in the profile `default` alone.
      if (profile === 'haip') {
        const unexpected = Object.keys(metadata).filter((name) => !METADATA_MEMBERS.has(name));
        const ofConfigurations = Object.values(supported).flatMap((of) => Object.keys(of));
        expect([...unexpected, ...ofConfigurations.filter((name) => !CONFIGURATION_MEMBERS.has(name))]).toEqual([]);
      }
      expect(Object.keys(supported).sort()).toEqual([sdJwt, mdoc].sort());
      for (const one of Object.values(supported)) {
        expect(one.scope).toMatch(SCOPE);
        expect(one['cryptographic_binding_methods_supported']).toHaveLength(1);
        expect(one['proof_types_supported']).toMatchObject({ jwt: { proof_signing_alg_values_supported: ['ES256'] } });
        const { display } = one['credential_metadata'] as { display: { name: string; locale?: string }[] };
        expect(display.length).toBeGreaterThan(0);
        for (const { locale } of display) if (locale !== undefined) expect(() => new Intl.Locale(locale)).not.toThrow();
      }
      expect(new Set(Object.values(supported).map(({ scope }) => scope))).toEqual(new Set([SD_JWT_SCOPE, MDOC_SCOPE]));
      expect(supported[sdJwt]).toMatchObject({
        format: 'dc+sd-jwt',
        credential_signing_alg_values_supported: ['ES256'],
      });
      expect(supported[mdoc]).toMatchObject({ format: 'mso_mdoc', credential_signing_alg_values_supported: [-7] });
      expect(metadata.credential_response_encryption.alg_values_supported).toEqual(['ECDH-ES']);
      for (const { enc_values_supported } of [
        metadata.credential_response_encryption,
        metadata.credential_request_encryption,
      ])
        expect([...enc_values_supported].sort()).toEqual(['A128GCM', 'A256GCM']);
    };

    const collectSdJwt = async (token: string, ...keys: HolderKey[]) => {
      const { wallet, sdJwt } = issuerUnderTest();
      const credentials = await wallet.credentials(token, sdJwt, ...keys);
      // The first lists are published about a second later.
      const verified = await waitUntil(
        () => Promise.all(credentials.map((credential, index) => verifySdJwt(credential, keys[index]!))),
        { what: 'the status list' },
      );
      return { credentials, verified };
    };

    it('oid4vci-1_0-issuer-metadata-test [T470]', async () => {
      const { tenant } = issuerUnderTest();
      checkMetadata(await read<Metadata>(ISSUER_METADATA));
      const server = await read<Record<string, unknown>>(SERVER_METADATA);
      expect(server).toMatchObject({
        issuer: tenant.url,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        dpop_signing_alg_values_supported: ['ES256'],
        client_attestation_signing_alg_values_supported: ['ES256'],
        client_attestation_pop_signing_alg_values_supported: ['ES256'],
        authorization_response_iss_parameter_supported: true,
        require_pushed_authorization_requests: profile === 'haip',
      });
      expect(server['token_endpoint_auth_methods_supported']).toContain('attest_jwt_client_auth');
      const { keys } = await read<{ keys: JWK[] }>('/v1/oauth/jwks');
      for (const key of keys) expect(key).not.toHaveProperty('d');
    });

    it('oid4vci-1_0-issuer-metadata-test-signed [T470]', async () => {
      const { tenant } = issuerUnderTest();
      const { headers, text } = await new ApiClient(tenant.url).request('GET', ISSUER_METADATA, {
        headers: { accept: 'application/jwt' },
      });
      expect(headers.get('content-type')).toBe('application/jwt');
      const { x5c, alg, typ } = decodeProtectedHeader(text);
      expect([alg, typ, x5c!.length]).toEqual(['ES256', 'openidvci-issuer-metadata+jwt', 1]);
      // Neither the trust anchor nor a self-signed certificate (HAIP 1.0 §4.1).
      const leaf = new X509Certificate(Buffer.from(x5c![0]!, 'base64'));
      const { certificates } = await read<{ certificates: string[] }>('/v1/openid/issuer-ca');
      expect(certificates.map((pem) => leaf.verify(new X509Certificate(pem).publicKey))).toContain(true);
      expect([leaf.verify(leaf.publicKey), leaf.ca]).toEqual([false, false]);
      const { payload } = await jwtVerify(text, leaf.publicKey);
      expect(payload).toMatchObject({ sub: tenant.url, iat: expect.any(Number) as number });
      checkMetadata(payload as unknown as Metadata);
    });

    it('oid4vci-1_0-issuer-happy-flow [T470]', async () => {
      const { wallet, sdJwt, tenant } = issuerUnderTest();
      const interaction = randomUUID();
      const pushed = await wallet.push(wallet.parameters(SD_JWT_SCOPE, { unknown_parameter: 'ignored' }));
      expect([pushed.status, pushed.headers.get('cache-control')]).toEqual([201, 'no-store']);
      expect(pushed.body).toEqual({
        request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/),
        expires_in: 60,
      });
      const back = await wallet.authorize(pushed.body.request_uri);
      expect(back.searchParams.get('iss')).toBe(tenant.url);
      const exchanged = await wallet.exchange(back.searchParams.get('code')!, { unknown_parameter: 'ignored' });
      expect([exchanged.status, exchanged.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(exchanged.body).toMatchObject({ token_type: 'DPoP', scope: SD_JWT_SCOPE });
      const nonce = await wallet.nonce();
      expect([nonce.status, nonce.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(nonce.body).toEqual({ c_nonce: expect.any(String) });
      const key = await makeHolderKey();
      const jwt = [await wallet.keyProof(key, { claims: { nonce: nonce.body.c_nonce } })];
      const answer = await wallet.requestCredential(
        exchanged.body.access_token,
        { credential_configuration_id: sdJwt, proofs: { jwt }, unknown_member: 'ignored' },
        { 'x-fapi-interaction-id': interaction },
      );
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(Date.parse(answer.headers.get('date')!)).not.toBeNaN();
      expect([null, interaction]).toContain(answer.headers.get('x-fapi-interaction-id'));
      const notified = await wallet.notify(exchanged.body.access_token, answer.body.notification_id);
      expect([notified.status, notified.text]).toEqual([204, '']);
      const [{ credential }] = answer.body.credentials as [{ credential: string }];
      const { header, payload, type } = await waitUntil(() => verifySdJwt(credential, key), {
        what: 'the status list',
      });
      expect(header).toMatchObject({ typ: 'dc+sd-jwt', alg: 'ES256' });
      expect(payload).toMatchObject({
        given_name: 'Zoë',
        iss: tenant.url,
        vct: type!['vct'],
        cnf: { jwk: key.publicJwk },
      });
      expect((payload['nbf'] as number) <= seconds() && (payload['exp'] as number) > seconds()).toBe(true);
      // The token of the list has the certificate of its signer, without the trust anchor (HAIP 1.0 §6.1).
      const { uri } = (payload['status'] as { status_list: { uri: string } }).status_list;
      const list = await (await hostFetch(uri, { headers: { accept: 'application/statuslist+jwt' } })).text();
      expect(decodeProtectedHeader(list).x5c).toHaveLength(1);
    });

    it('oid4vci-1_0-issuer-happy-flow-skip-notification [T470]', async () => {
      const { wallet, sdJwt } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      for (let n = 0; n < 2; n++) expect(await wallet.credentials(token, sdJwt, await makeHolderKey())).toHaveLength(1);
    });

    it('oid4vci-1_0-issuer-happy-flow, deferred [T470]', () =>
      withConfiguration(issuerUnderTest(), { approval: 'manual' }, async (id, scope) => {
        const { wallet, tenant } = issuerUnderTest();
        const token = await wallet.obtainToken(scope);
        const key = await makeHolderKey();
        const body = { credential_configuration_id: id, proofs: { jwt: [await wallet.keyProof(key)] } };
        const first = await wallet.requestCredential(token, body);
        const { transaction_id: transactionId, interval } = first.body;
        expect([first.status, Object.keys(first.body).sort()]).toEqual([202, ['interval', 'transaction_id']]);
        expect(interval).toBeGreaterThan(0);
        const pending = await wallet.requestDeferred(token, transactionId!);
        expect([pending.status, pending.body.transaction_id]).toEqual([202, transactionId]);
        const { data } = await waitUntil(
          async () => {
            const listed = expectStatus(await tenant.api.deferred.list(), 200);
            return listed.data.length > 0 && listed;
          },
          { what: 'the deferral in the list' },
        );
        expectStatus(await tenant.api.deferred.approve(data[0]!.id), 204);
        const { credentials, notification_id: notificationId } = expectStatus(
          await wallet.requestDeferred(token, transactionId!),
          200,
        );
        const { payload } = await verifySdJwt(credentials[0]!.credential, key);
        expect(payload).toMatchObject({ given_name: 'Zoë', cnf: { jwk: key.publicJwk } });
        expect((await wallet.notify(token, notificationId)).status).toBe(204);
        const again = await wallet.requestDeferred(token, transactionId!);
        expect([again.status, again.body.error]).toEqual([400, 'invalid_transaction_id']);
      }));

    it('oid4vci-1_0-issuer-happy-flow, mdoc [T470]', async () => {
      const { wallet, mdoc, iaca } = issuerUnderTest();
      const key = await makeHolderKey();
      const token = await wallet.obtainToken(MDOC_SCOPE);
      const [credential] = await wallet.credentials(token, mdoc, key);
      expect(credential).toMatch(/^[\w-]+$/);
      const presented = { credential: credential!, docType: DOC_TYPE, deviceKey: key.privateKey, iacas: [iaca] };
      expect(await verifyMdoc(presented)).toMatchObject({ [DOC_TYPE]: { given_name: 'Zoë', level: 'gold' } });
      expect(await mdocStatus(credential!)).toMatchObject({ uri: expect.stringMatching(/^http/) as string });
      const isVerified = () => verifyMdocStatus(credential!, [iaca]).then(() => true);
      await waitUntil(isVerified, { what: 'the status list' });
    });

    it('oid4vci-1_0-issuer-happy-flow, issuer-initiated [T470]', async () => {
      const { wallet, sdJwt, mdoc, tenant } = issuerUnderTest();
      const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [sdJwt, mdoc] }), 200);
      const offer = await new Wallet().resolveOffer(uri);
      expect(offer).toMatchObject({ credential_issuer: tenant.url, credential_configuration_ids: [sdJwt, mdoc] });
      expect(offer.grants).toHaveProperty('authorization_code');
      const members = ['credential_configuration_ids', 'credential_issuer', 'grants'];
      expect(Object.keys(offer).sort()).toEqual(profile === 'haip' ? members : [...members, 'credentials'].sort());
      const supported = (await read<Metadata>(ISSUER_METADATA)).credential_configurations_supported;
      const scope = offer.credential_configuration_ids.map((id) => supported[id]!.scope).join(' ');
      const token = await wallet.obtainToken(scope);
      for (const id of [sdJwt, mdoc])
        expect(await wallet.credentials(token, id, await makeHolderKey())).toHaveLength(1);
    });

    it('oid4vci-1_0-issuer-happy-flow, encrypted [T470]', async () => {
      const { wallet } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
      const key = await makeHolderKey();
      const answer = await sendEncrypted(token, key, {
        ...(await exportJWK(publicKey)),
        alg: 'ECDH-ES',
        use: 'enc',
        kid: 'w',
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/jwt']);
      const { credentials } = JSON.parse(
        Buffer.from((await compactDecrypt(answer.text, privateKey)).plaintext).toString(),
      ) as {
        credentials: { credential: string }[];
      };
      const { payload } = await waitUntil(() => verifySdJwt(credentials[0]!.credential, key), {
        what: 'the status list',
      });
      expect(payload).toMatchObject({ given_name: 'Zoë' });
    });

    /** An encrypted request for the SD-JWT VC. */
    const sendEncrypted = async (token: string, key: HolderKey, jwk: JWK) => {
      const { wallet, sdJwt } = issuerUnderTest();
      const [issuerKey] = (await read<Metadata>(ISSUER_METADATA)).credential_request_encryption.jwks.keys;
      const body = {
        credential_configuration_id: sdJwt,
        proofs: { jwt: [await wallet.keyProof(key)] },
        credential_response_encryption: { jwk, enc: 'A256GCM' },
      };
      const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(body)))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: issuerKey!.kid! })
        .encrypt(await importJWK(issuerKey!, 'ECDH-ES'));
      return wallet.requestCredential(token, jwe, { 'content-type': 'application/jwt' });
    };

    it('oid4vci-1_0-issuer-happy-flow-additional-requests [T470]', async () => {
      const { wallet, sdJwt } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      for (const headers of <Record<string, string>[]>[
        { 'x-fapi-customer-ip-address': '2001:db8::1893:25c8:1946', accept: 'application/json; charset=utf-8' },
        { accept: 'application/json, application/*+json, */*' },
      ]) {
        const jwt = [await wallet.keyProof(await makeHolderKey())];
        const body = { credential_configuration_id: sdJwt, proofs: { jwt } };
        expect((await wallet.requestCredential(token, body, headers)).status).toBe(200);
      }
    });

    it('oid4vci-1_0-issuer-happy-flow-multiple-clients [T470]', async () => {
      const { wallet, secondWallet, sdJwt } = issuerUnderTest();
      const tokens: string[] = [];
      for (const one of [wallet, secondWallet]) {
        tokens.push(await one.obtainToken(SD_JWT_SCOPE));
        expect(await one.credentials(tokens.at(-1)!, sdJwt, await makeHolderKey())).toHaveLength(1);
      }
      expect(new Set(tokens).size).toBe(2);
    });

    /** From one index to the next. */
    const stepsOf = (entries: readonly { idx: number }[]) =>
      entries.slice(1).map(({ idx }, index) => idx - entries[index]!.idx);

    it('oid4vci-1_0-issuer-batch-issuance [T470]', async () => {
      const { wallet, mdoc, iaca } = issuerUnderTest();
      const { batch_size: size } = (await read<Metadata>(ISSUER_METADATA)).batch_credential_issuance;
      const keys = await Promise.all(Array.from({ length: size }, () => makeHolderKey()));
      const { credentials, verified } = await collectSdJwt(await wallet.obtainToken(SD_JWT_SCOPE), ...keys);
      expect(credentials).toHaveLength(size);
      // The same data, for different keys.
      const payloads = verified.map(({ payload }) => payload);
      expect(new Set(payloads.map(({ given_name, level }) => JSON.stringify([given_name, level]))).size).toBe(1);
      expect(payloads.map(({ cnf }) => (cnf as { jwk: JWK }).jwk)).toEqual(keys.map(({ publicJwk }) => publicJwk));
      const disclosures = credentials.flatMap((credential) => credential.split('~').slice(1, -1));
      expect(new Set(disclosures).size).toBe(disclosures.length);
      for (const { iat, nbf, exp } of payloads as { iat: number; nbf: number; exp: number }[])
        expect([iat % 3600, nbf % 3600, exp % 3600]).toEqual([0, 0, 0]);
      const entries = payloads.map(
        ({ status }) => (status as { status_list: { uri: string; idx: number } }).status_list,
      );
      expect(new Set(entries.map(({ idx, uri }) => `${uri}#${idx}`)).size).toBe(size);
      expect(new Set(stepsOf(entries)).size).toBeGreaterThan(1);

      const mdocs = await wallet.credentials(await wallet.obtainToken(MDOC_SCOPE), mdoc, ...keys);
      expect(mdocs).toHaveLength(size);
      for (const [index, credential] of mdocs.entries())
        expect(
          await verifyMdoc({ credential, docType: DOC_TYPE, deviceKey: keys[index]!.privateKey, iacas: [iaca] }),
        ).toMatchObject({ [DOC_TYPE]: { given_name: 'Zoë' } });
      const statuses = (await Promise.all(mdocs.map(mdocStatus))).map((status) => status!);
      expect(new Set(statuses.map(({ uri, idx }) => `${uri}#${idx}`)).size).toBe(size);
      expect(new Set(stepsOf(statuses)).size).toBeGreaterThan(1);
      const traces = await Promise.all(mdocs.map(mdocTraces));
      const salts = traces.flatMap((trace) => trace.salts);
      expect([salts.length, new Set(salts).size]).toEqual([2 * size, 2 * size]);
      for (const { times } of traces)
        for (const name of ['signed', 'validFrom', 'validUntil']) expect(times[name]).toMatch(/T\d\d:00:00Z$/);
    });

    /** A credential error response: plain JSON with the members of VCI §8.3.1.2 alone. */
    const expectCredentialError = (answer: Awaited<ReturnType<typeof refuse>>, error: string) => {
      const type = answer.headers.get('content-type')!.split(';')[0];
      expect([answer.status, type, answer.headers.get('cache-control')]).toEqual([400, 'application/json', 'no-store']);
      expect(answer.body).toEqual({
        error,
        error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      });
    };
    const refuse = async (change: object, jwt?: string[]) => {
      const { wallet, sdJwt } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      const proofs = { jwt: jwt ?? [await wallet.keyProof(await makeHolderKey())] };
      return wallet.requestCredential(token, { credential_configuration_id: sdJwt, proofs, ...change });
    };

    it('oid4vci-1_0-issuer-fail-invalid-nonce [T470]', async () => {
      const { wallet } = issuerUnderTest();
      const proof = await wallet.keyProof(await makeHolderKey(), { claims: { nonce: randomUUID() } });
      expectCredentialError(await refuse({}, [proof]), 'invalid_nonce');
    });

    it('oid4vci-1_0-issuer-fail-missing-proof [T470]', async () =>
      expectCredentialError(await refuse({ proofs: undefined }), 'invalid_proof'));

    it('oid4vci-1_0-issuer-fail-invalid-jwt-proof-signature [T470]', async () => {
      const proof = await issuerUnderTest().wallet.keyProof(await makeHolderKey());
      expectCredentialError(await refuse({}, [withBrokenSignature(proof)]), 'invalid_proof');
    });

    it('oid4vci-1_0-issuer-fail-invalid-key-attestation-signature [T470]', () => {
      const { attester, wallet } = issuerUnderTest();
      const keyAttestation = { keyStorage: ['iso_18045_high'], rootCertificates: [attester.rootCertificate] };
      return withConfiguration(issuerUnderTest(), { keyAttestation }, async (id, scope) => {
        const token = await wallet.obtainToken(scope);
        const key = await makeHolderKey();
        const request = async (change: (attestation: string) => string) => {
          const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
          const attestation = await attester.attestKeys([key.publicJwk], nonce, { key_storage: ['iso_18045_high'] });
          const header = { key_attestation: change(attestation) };
          const jwt = [await wallet.keyProof(key, { header, claims: { nonce } })];
          return wallet.requestCredential(token, { credential_configuration_id: id, proofs: { jwt } });
        };
        expectCredentialError(await request(withBrokenSignature), 'invalid_proof');
        expect((await request((attestation) => attestation)).status).toBe(200);
      });
    });

    it('oid4vci-1_0-issuer-fail-unknown-credential-configuration [T470]', async () =>
      expectCredentialError(
        await refuse({ credential_configuration_id: `unknown:${randomUUID()}` }),
        'unknown_credential_configuration',
      ));

    it('oid4vci-1_0-issuer-fail-unknown-credential-identifier [T466] [T470]', async () =>
      expectCredentialError(
        await refuse({ credential_configuration_id: undefined, credential_identifier: `unknown:${randomUUID()}` }),
        'unknown_credential_identifier',
      ));

    it('oid4vci-1_0-issuer-fail-unsupported-encryption-algorithm [T470]', async () => {
      const token = await issuerUnderTest().wallet.obtainToken(SD_JWT_SCOPE);
      const { publicKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), alg: 'UNSUPPORTED', use: 'enc' };
      expectCredentialError(await sendEncrypted(token, await makeHolderKey(), jwk), 'invalid_encryption_parameters');
    });

    it('oid4vci-1_0-issuer-fail-on-access-token-in-query [T470]', async () => {
      const { wallet, sdJwt } = issuerUnderTest();
      const token = await wallet.obtainToken(SD_JWT_SCOPE);
      const proofs = { jwt: [await wallet.keyProof(await makeHolderKey())] };
      const body = { credential_configuration_id: sdJwt, proofs };
      const { status } = await wallet.requestCredential(token, body, {}, `?access_token=${token}`);
      expect([400, 401]).toContain(status);
      expect((await wallet.requestCredential(token, body)).status).toBe(200);
    });

    /** Answer that the modules on client attestation accept at the PAR endpoint. */
    const expectClientError = async (sent: { attestation?: string; pop?: string }) => {
      const { wallet } = issuerUnderTest();
      const { status, body, headers } = await wallet.push(wallet.parameters(SD_JWT_SCOPE), sent);
      expect([status, body.error, headers.get('content-type')?.split(';')[0]]).toEqual([
        ...[401, 'invalid_client', 'application/json'],
      ]);
    };

    it('oid4vci-1_0-issuer-fail-client-attestation-exp-in-past [T470]', async () => {
      const claims = { iat: seconds() - 600, exp: seconds() - 300 };
      await expectClientError({ attestation: await issuerUnderTest().wallet.attest({ claims }) });
    });

    it('oid4vci-1_0-issuer-fail-client-attestation-no-sub [T470]', async () =>
      expectClientError({ attestation: await issuerUnderTest().wallet.attest({ claims: { sub: undefined } }) }));

    it('oid4vci-1_0-issuer-fail-client-attestation-pop-wrong-aud [T470]', async () =>
      expectClientError({ pop: await issuerUnderTest().wallet.pop({ claims: { aud: 'https://wrong.example' } }) }));

    it('oid4vci-1_0-issuer-fail-invalid-client-attestation-signature [T470]', async () => {
      const { wallet } = issuerUnderTest();
      await expectClientError({ attestation: withBrokenSignature(await wallet.attest()) });
      const other = await WalletProvider.create();
      await expectClientError({ attestation: await other.attest(wallet.clientId, wallet.instanceKey.publicJwk) });
    });

    it('oid4vci-1_0-issuer-fail-invalid-client-attestation-pop-signature [T470]', async () =>
      expectClientError({ pop: withBrokenSignature(await issuerUnderTest().wallet.pop()) }));

    it('oid4vci-1_0-issuer-fail-mismatched-client-attestation-pop-key [T470]', async () =>
      expectClientError({ pop: await issuerUnderTest().wallet.pop({ by: await makeHolderKey() }) }));
  });
