import {
  approveDeferredIssuance,
  authorize,
  createWallet,
  exchangeToken,
  issueCredential,
  issueDeferredCredential,
  pushAuthorization,
  recordNotification,
  recordSubject,
  revokeWalletToken,
  type CredentialResponse,
  type DeferredResponse,
  type Operation,
  type OperationRecordMessage,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { athOf, IssuanceUnderTest, makeWalletKey } from '@attestry/testing/services';
import { issuanceService } from './index.js';
import { parseBearerValue } from './sessions/bearer-value/bearer-value.js';
import type { OpenIdSettings } from './settings/openid-settings/openid-settings.events.js';
import { openIdSettings, openIdSettingsStream } from './settings/openid-settings/openid-settings.state.js';

// The order of the checks of each endpoint for wallets, as a wallet observes it: a request with several faults is refused for the first of
// them. Each row is the answer to a request with the fault of its name and those of all later rows; the last row has no fault.

const { TENANT, WALLET } = IssuanceUnderTest;
const issuance = new IssuanceUnderTest(issuanceService, {
  subjects: [recordSubject('record', 'issuance')],
  person: () => ({ subjectId: 'zoe', claims: { name: 'Zoe' } }),
});
const { admin, authorization, codeGrant, configure, offer, proveDpop, proveKey, redeem } = issuance;

const key = makeWalletKey();
const other = makeWalletKey();
let configurationId: string;
let approvedId: string;

beforeAll(async () => {
  await issuance.open();
  configurationId = await configure('Course', { maxIssuances: 1 });
  approvedId = await configure('Approved', { approval: 'manual' });
  for (const more of [{}, { clientId: 'bound', dpopRequired: true }])
    await admin(createWallet, { body: { ...WALLET, ...more } });
  await admin(createWallet, { body: { ...WALLET, clientId: 'disabled', disabled: true } });
});
afterAll(() => issuance.remove());

const changeSettings = (data: { [Member in keyof OpenIdSettings]: OpenIdSettings[Member] | null }) =>
  issuance.engines.streams.runDecision(
    openIdSettings,
    openIdSettingsStream(TENANT),
    () => [{ type: 'OpenIdSettingsChanged' as const, data: data as OpenIdSettings }],
    { tenantId: TENANT, requestId: 'spec', actor: 'spec', operation: 'spec' },
  );

interface Request {
  query: Record<string, string>;
  headers: Record<string, string>;
  /** Parameters of a form, where a text may be several; or members of a JSON body. */
  body: Record<string, unknown>;
  text?: string;
  settings: Parameters<typeof changeSettings>[0];
}
type Fault = (request: Request) => unknown;
/** The last members: whether a message records the call, and whether the same request is refused because its proof is spent. */
type Row = [fault: string, error: string, description: string, record: string, proof: string];

const NO_SETTINGS: Request['settings'] = { profile: null, encryption: null, requirePushedAuthorizationRequests: null };
const HAIP: Fault = ({ settings }) => (settings.profile = 'haip');
const HOUR_MS = 3_600_000;
const USED = 'the DPoP proof has already been used';
const isForm = ({ headers }: Request) => headers['content-type'] !== 'application/json';

const textOf = (request: Request): string => {
  if (request.text !== undefined) return request.text;
  if (!isForm(request)) return JSON.stringify(request.body);
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(request.body))
    for (const value of [values].flat()) form.append(name, String(value));
  return form.toString();
};

const send = (operation: Operation, request: Request) => {
  const { headers, query } = request;
  const url = `${operation.http!.path}?${new URLSearchParams(query)}`.replace(/\?$/, '');
  return issuance.send<Record<string, string>>(operation, { url, headers, text: textOf(request) });
};

/** Error and description of an answer, wherever it has them; of one without, its status and what it has instead. */
const refusalOf = ({ status, headers, body }: Awaited<ReturnType<typeof send>>): [string, string] => {
  const location = headers['location'] && new URL(headers['location']);
  if (location)
    return [location.searchParams.get('error') ?? '302', location.searchParams.get('error_description') ?? ''];
  if (typeof body === 'string') {
    const [error = '', description = ''] = [...(body as string).matchAll(/<dd>([^<]*)</g)].map(([, text]) => text!);
    return [error, description];
  }
  return [body?.['error'] ?? String(status), body?.['error_description'] ?? ''];
};

/** The answers to requests with all faults, without the first, and so on. */
const answersTo = async (operation: Operation, make: () => Promise<Request>, faults: Record<string, Fault>) => {
  const rows: Row[] = [];
  const calls: string[] = [];
  const [names, changes] = [Object.keys(faults), Object.values(faults)];
  for (let first = 0; first <= names.length; first++) {
    await changeSettings(NO_SETTINGS);
    const request = await make();
    for (const change of changes.slice(first).reverse()) await change(request);
    await changeSettings(request.settings);
    const answer = await send(operation, request);
    calls.push(`request-${issuance.requests}`);
    const { dpop } = request.headers;
    if (operation !== authorize) expect('dpop-nonce' in answer.headers).toBe(dpop !== undefined);
    const again = dpop !== undefined && refusalOf(await send(operation, request))[1] === USED;
    rows.push([names[first] ?? 'no fault', ...refusalOf(answer), '', again ? 'spent' : '']);
  }
  await changeSettings(NO_SETTINGS);
  // Records are published in their order.
  await redeem((await offer({ credentials: [approvedId], claims: { name: 'Ada' } })).code, { dpop: 'none' });
  const last = `request-${issuance.requests}`;
  const recorded = () => new Set(issuance.messages.map(({ data }) => (data as OperationRecordMessage).requestId));
  await waitUntil(() => recorded().has(last), { what: 'the record of the last request' });
  for (const [index, id] of calls.entries()) if (recorded().has(id)) rows[index]![3] = 'recorded';
  return rows;
};

// --- faults

const contentType: Fault = ({ headers }) => (headers['content-type'] = 'text/plain');
const invalidProof: Fault = ({ headers }) => (headers['dpop'] = 'none');
const disabledClient: Fault = ({ body }) => (body['client_id'] = 'disabled');
const inQuery =
  (name: string): Fault =>
  ({ query }) =>
    (query[name] = 'x');
const set =
  (members: Record<string, unknown>): Fault =>
  ({ body }) =>
    Object.assign(body, members);
const drop =
  (name: string): Fault =>
  ({ body }) =>
    delete body[name];

const withWrongSecret = (token: string) => `${token.slice(0, -9)}${token.at(-9) === 'A' ? 'B' : 'A'}${token.slice(-8)}`;
/** Headers for a token that is bound to `key`. */
const bearing = async (token: string, operation: Operation, of = key) => ({
  authorization: `DPoP ${token}`,
  dpop: await proveDpop(of, operation, { ath: athOf(token) }),
});
const tokenFaults = (operation: Operation, token: () => string): Record<string, Fault> => ({
  'token in the query': inQuery('access_token'),
  'no token': ({ headers }) => delete headers['authorization'],
  'unknown token': ({ headers }) => (headers['authorization'] = `DPoP ${withWrongSecret(token())}`),
  'proof of another key': async ({ headers }) => Object.assign(headers, await bearing(token(), operation, other)),
});

const bind = async (credential: string) => {
  const { code } = await offer({ credentials: [credential], claims: { name: 'Ada' } });
  return (await redeem(code, { dpop: await proveDpop(key, exchangeToken) })).body.access_token;
};
const defer = async (token: string) => {
  const answer = await issuance.sendJson<DeferredResponse>(
    issueCredential,
    { credential_configuration_id: approvedId, proofs: { jwt: await keyProofs() } },
    await bearing(token, issueCredential),
  );
  const transactionId = answer.body.transaction_id;
  return { transactionId, deferralId: parseBearerValue(transactionId)!.tokenId };
};
const keyProofs = (keys = [makeWalletKey()], nonce?: string) =>
  Promise.all(keys.map((one) => proveKey(one, TENANT, { nonce })));

describe('the order of checks', () => {
  it('of the credential endpoint', async () => {
    const [token, deferring] = [await bind(configurationId), await bind(approvedId)];
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { 'content-type': 'application/json', ...(await bearing(token, issueCredential)) },
      body: { credential_configuration_id: configurationId, proofs: { jwt: await keyProofs() } },
      settings: { ...NO_SETTINGS },
    });
    const spentNonce = async ({ body }: Request) => {
      const nonce = await issuance.nonce();
      const jwt = await keyProofs([makeWalletKey()], nonce);
      const { headers } = await make();
      const authorized = { ...headers, ...(await bearing(deferring, issueCredential)) };
      const request = { credential_configuration_id: approvedId, proofs: { jwt } };
      expect((await issuance.sendJson(issueCredential, request, authorized)).status).toBe(202);
      body['proofs'] = { jwt: await keyProofs([makeWalletKey()], nonce) };
    };
    const rows = await answersTo(issueCredential, make, {
      'content type': contentType,
      ...tokenFaults(issueCredential, () => token),
      HAIP,
      'encryption required': ({ settings }) => (settings.encryption = { requestRequired: true }),
      'no selector': drop('credential_configuration_id'),
      'not covered': set({ credential_configuration_id: approvedId }),
      'more than maxIssuances': async ({ body }) =>
        (body['proofs'] = { jwt: await keyProofs([makeWalletKey(), makeWalletKey()]) }),
      'spent nonce': spentNonce,
    });
    expect(rows).toEqual<Row[]>([
      [
        'content type',
        'invalid_credential_request',
        'the content type must be application/json, or application/jwt for an encrypted request',
        '',
        '',
      ],
      ['token in the query', 'invalid_request', 'the access token must not be in the query string', '', ''],
      ['no token', 'invalid_token', 'an access token with the scheme Bearer or DPoP is required', '', ''],
      ['unknown token', 'invalid_token', 'the access token is not valid', 'recorded', ''],
      [
        'proof of another key',
        'invalid_dpop_proof',
        'the DPoP proof must be made with the key of the access token',
        'recorded',
        '',
      ],
      [
        'HAIP',
        'invalid_token',
        'the access token was issued before this issuer required HAIP 1.0',
        'recorded',
        'spent',
      ],
      [
        'encryption required',
        'invalid_encryption_parameters',
        'the request must be encrypted: this issuer requires the content type application/jwt',
        'recorded',
        'spent',
      ],
      [
        'no selector',
        'invalid_credential_request',
        'exactly one of credential_configuration_id and credential_identifier is required',
        'recorded',
        'spent',
      ],
      [
        'not covered',
        'insufficient_scope',
        'the access token does not cover this credential configuration',
        'recorded',
        'spent',
      ],
      [
        'more than maxIssuances',
        'credential_request_denied',
        'the credential configuration allows no more credentials for this offer',
        'recorded',
        'spent',
      ],
      [
        'spent nonce',
        'invalid_nonce',
        'the c_nonce has already been used: get another from the nonce endpoint for each request',
        'recorded',
        'spent',
      ],
      ['no fault', '200', '', '', 'spent'],
    ]);
  });

  it('of the deferred credential endpoint, for a token that has ended and has a deferral', async () => {
    const [token, ended] = [await bind(approvedId), await bind(configurationId)];
    const { transactionId, deferralId } = await defer(token);
    await admin(approveDeferredIssuance, { params: { id: deferralId } });
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { 'content-type': 'application/json', ...(await bearing(token, issueDeferredCredential)) },
      body: { transaction_id: transactionId },
      settings: { ...NO_SETTINGS },
    });
    issuance.ahead = HOUR_MS;
    const rows = await answersTo(issueDeferredCredential, make, {
      'content type': contentType,
      ...tokenFaults(issueDeferredCredential, () => token),
      HAIP,
      'ended token': async ({ headers }) => Object.assign(headers, await bearing(ended, issueDeferredCredential)),
      'encryption required': ({ settings }) => (settings.encryption = { requestRequired: true }),
      'no transaction id': drop('transaction_id'),
      'unknown transaction id': set({ transaction_id: 'x' }),
    });
    expect(rows).toEqual<Row[]>([
      [
        'content type',
        'invalid_credential_request',
        'the content type must be application/json, or application/jwt for an encrypted request',
        '',
        '',
      ],
      ['token in the query', 'invalid_request', 'the access token must not be in the query string', '', ''],
      ['no token', 'invalid_token', 'an access token with the scheme Bearer or DPoP is required', '', ''],
      ['unknown token', 'invalid_token', 'the access token is not valid', 'recorded', ''],
      [
        'proof of another key',
        'invalid_dpop_proof',
        'the DPoP proof must be made with the key of the access token',
        'recorded',
        '',
      ],
      [
        'HAIP',
        'invalid_token',
        'the access token was issued before this issuer required HAIP 1.0',
        'recorded',
        'spent',
      ],
      ['ended token', 'invalid_token', 'the access token is not valid', 'recorded', 'spent'],
      [
        'encryption required',
        'invalid_encryption_parameters',
        'the request must be encrypted: this issuer requires the content type application/jwt',
        'recorded',
        'spent',
      ],
      ['no transaction id', 'invalid_credential_request', 'transaction_id is missing', 'recorded', 'spent'],
      ['unknown transaction id', 'invalid_token', 'the access token is not valid', 'recorded', 'spent'],
      ['no fault', '200', '', '', 'spent'],
    ]);
  });

  it('of the notification endpoint, for a token that has ended and had a deferral', async () => {
    issuance.ahead = 0;
    const [token, ended] = [await bind(approvedId), await bind(configurationId)];
    const { transactionId, deferralId } = await defer(token);
    await admin(approveDeferredIssuance, { params: { id: deferralId } });
    const collected = await issuance.sendJson<CredentialResponse>(
      issueDeferredCredential,
      { transaction_id: transactionId },
      await bearing(token, issueDeferredCredential),
    );
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { 'content-type': 'application/json', ...(await bearing(token, recordNotification)) },
      body: { notification_id: collected.body.notification_id, event: 'credential_accepted' },
      settings: { ...NO_SETTINGS },
    });
    issuance.ahead = HOUR_MS;
    const rows = await answersTo(recordNotification, make, {
      ...tokenFaults(recordNotification, () => token),
      'ended token': async ({ headers }) => Object.assign(headers, await bearing(ended, recordNotification)),
      'content type': contentType,
      'no notification id': drop('notification_id'),
      'unknown event': set({ event: 'x' }),
      'unknown notification id': set({ notification_id: TENANT }),
    });
    expect(rows).toEqual<Row[]>([
      ['token in the query', 'invalid_request', 'the access token must not be in the query string', '', ''],
      ['no token', 'invalid_token', 'an access token with the scheme Bearer or DPoP is required', '', ''],
      ['unknown token', 'invalid_token', 'the access token is not valid', 'recorded', ''],
      [
        'proof of another key',
        'invalid_dpop_proof',
        'the DPoP proof must be made with the key of the access token',
        'recorded',
        '',
      ],
      ['ended token', 'invalid_token', 'the access token is not valid', 'recorded', 'spent'],
      [
        'content type',
        'invalid_notification_request',
        'the content type must be application/json',
        'recorded',
        'spent',
      ],
      ['no notification id', 'invalid_notification_request', 'notification_id is missing', 'recorded', 'spent'],
      [
        'unknown event',
        'invalid_notification_request',
        'event must be one of: credential_accepted, credential_failure, credential_deleted',
        'recorded',
        'spent',
      ],
      ['unknown notification id', 'invalid_token', 'the access token is not valid', 'recorded', 'spent'],
      ['no fault', '204', '', '', 'spent'],
    ]);
  });

  const head = { 'content-type': 'application/x-www-form-urlencoded' };
  /** A code whose request named the key of the proofs. */
  const signIn = () => issuance.signIn(authorization({ scope: 'jwt_vc_json:Course', dpop_jkt: key.jkt }));
  const formFaults = (name: string): Record<string, Fault> => ({
    'content type': contentType,
    'parameter in the query': inQuery(name),
    'too long': set({ [name]: 'x'.repeat(20_000) }),
    'parameter twice': set({ client_id: ['wallet', 'wallet'] }),
  });

  it('of the token endpoint, for a code', async () => {
    issuance.ahead = 0;
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { ...head, dpop: await proveDpop(key, exchangeToken) },
      body: codeGrant(await signIn()),
      settings: { ...NO_SETTINGS },
    });
    const rows = await answersTo(exchangeToken, make, {
      ...formFaults('code_verifier'),
      'no grant type': drop('grant_type'),
      'unknown code': set({ code: 'x' }),
      'disabled client': disabledClient,
      'invalid proof': invalidProof,
      HAIP,
      'proof of another key': async ({ headers }) => (headers['dpop'] = await proveDpop(other, exchangeToken)),
      'unknown resource': set({ resource: 'https://other.example' }),
      'wrong verifier': set({ code_verifier: 'x'.repeat(43) }),
    });
    expect(rows).toEqual<Row[]>([
      ['content type', 'invalid_request', 'the content type must be application/x-www-form-urlencoded', '', ''],
      ['parameter in the query', 'invalid_request', 'code_verifier must not be in the query string', '', ''],
      ['too long', 'invalid_request', 'code_verifier must have at most 128 characters', '', ''],
      ['parameter twice', 'invalid_request', 'a parameter must not be sent more than once', '', ''],
      ['no grant type', 'invalid_request', 'grant_type is missing', '', ''],
      ['unknown code', 'invalid_grant', 'the code is not valid', '', ''],
      ['disabled client', 'unauthorized_client', 'this issuer has disabled the wallet', 'recorded', ''],
      ['invalid proof', 'invalid_dpop_proof', 'DPoP proof: must be a compact JWS', 'recorded', ''],
      [
        'HAIP',
        'invalid_client',
        'client_id must be the one of a wallet that attests itself (HAIP 1.0)',
        'recorded',
        '',
      ],
      [
        'proof of another key',
        'invalid_dpop_proof',
        'a DPoP proof of the key that dpop_jkt of the authorization request named is required',
        'recorded',
        '',
      ],
      [
        'unknown resource',
        'invalid_target',
        'resource must be http://1111.localhost:8080, not https://other.example',
        'recorded',
        '',
      ],
      ['wrong verifier', 'invalid_grant', 'code_verifier does not match code_challenge', 'recorded', ''],
      ['no fault', '200', '', '', 'spent'],
    ]);
  });

  it('of the token endpoint, for a refresh token', async () => {
    const code = codeGrant(await signIn());
    const granted = await issuance.sendForm<Record<string, string>>(exchangeToken, code, {
      dpop: await proveDpop(key, exchangeToken),
    });
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { ...head, dpop: await proveDpop(key, exchangeToken) },
      body: { grant_type: 'refresh_token', client_id: 'wallet', refresh_token: granted.body['refresh_token'] },
      settings: { ...NO_SETTINGS },
    });
    const rows = await answersTo(exchangeToken, make, {
      ...formFaults('refresh_token'),
      'no grant type': drop('grant_type'),
      'unknown refresh token': set({ refresh_token: 'x' }),
      'disabled client': disabledClient,
      'invalid proof': invalidProof,
      HAIP,
      'proof of another key': async ({ headers }) => (headers['dpop'] = await proveDpop(other, exchangeToken)),
      'unknown resource': set({ resource: 'https://other.example' }),
      'scope that was not granted': set({ scope: 'x' }),
    });
    expect(rows).toEqual<Row[]>([
      ['content type', 'invalid_request', 'the content type must be application/x-www-form-urlencoded', '', ''],
      ['parameter in the query', 'invalid_request', 'refresh_token must not be in the query string', '', ''],
      ['too long', 'invalid_request', 'refresh_token must have at most 1024 characters', '', ''],
      ['parameter twice', 'invalid_request', 'a parameter must not be sent more than once', '', ''],
      ['no grant type', 'invalid_request', 'grant_type is missing', '', ''],
      ['unknown refresh token', 'invalid_grant', 'the refresh token is not valid', '', ''],
      ['disabled client', 'unauthorized_client', 'this issuer has disabled the wallet', 'recorded', ''],
      ['invalid proof', 'invalid_dpop_proof', 'DPoP proof: must be a compact JWS', 'recorded', ''],
      [
        'HAIP',
        'invalid_client',
        'client_id must be the one of a wallet that attests itself (HAIP 1.0)',
        'recorded',
        '',
      ],
      [
        'proof of another key',
        'invalid_grant',
        'the DPoP proof must be made with the key of the refresh token',
        'recorded',
        '',
      ],
      [
        'unknown resource',
        'invalid_target',
        'resource must be http://1111.localhost:8080, not https://other.example',
        'recorded',
        '',
      ],
      [
        'scope that was not granted',
        'invalid_scope',
        'scope must not exceed the scope that was granted',
        'recorded',
        '',
      ],
      ['no fault', '200', '', 'recorded', 'spent'],
    ]);
  });

  it('of the revocation endpoint', async () => {
    const code = codeGrant(await signIn());
    const granted = await issuance.sendForm<Record<string, string>>(exchangeToken, code, {
      dpop: await proveDpop(key, exchangeToken),
    });
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { ...head, dpop: await proveDpop(key, revokeWalletToken) },
      body: { token: granted.body['access_token'], client_id: 'wallet' },
      settings: { ...NO_SETTINGS },
    });
    const rows = await answersTo(revokeWalletToken, make, {
      ...formFaults('token'),
      'no token': drop('token'),
      'disabled client': disabledClient,
      'invalid proof': invalidProof,
      'another client': set({ client_id: 'bound' }),
      'code instead of a token': async ({ body }) => (body['token'] = await signIn()),
    });
    expect(rows).toEqual<Row[]>([
      ['content type', 'invalid_request', 'the content type must be application/x-www-form-urlencoded', '', ''],
      ['parameter in the query', 'invalid_request', 'token must not be in the query string', '', ''],
      ['too long', 'invalid_request', 'token must have at most 16384 characters', '', ''],
      ['parameter twice', 'invalid_request', 'a parameter must not be sent more than once', '', ''],
      ['no token', 'invalid_request', 'token is missing', '', ''],
      ['disabled client', 'unauthorized_client', 'this issuer has disabled the wallet', 'recorded', ''],
      ['invalid proof', 'invalid_dpop_proof', 'DPoP proof: must be a compact JWS', 'recorded', ''],
      ['another client', 'invalid_grant', 'the token was issued to another client', 'recorded', ''],
      [
        'code instead of a token',
        'unsupported_token_type',
        'only access tokens and refresh tokens can be revoked',
        'recorded',
        '',
      ],
      ['no fault', '200', '', '', 'spent'],
    ]);
  });

  it('of the endpoint for pushed authorization requests', async () => {
    const make = async (): Promise<Request> => ({
      query: {},
      headers: { ...head, dpop: await proveDpop(key, pushAuthorization) },
      body: authorization({ scope: 'jwt_vc_json:Course', dpop_jkt: key.jkt }),
      settings: { ...NO_SETTINGS },
    });
    const rows = await answersTo(pushAuthorization, make, {
      'content type': contentType,
      'parameter in the query': inQuery('client_id'),
      'too long': set({ state: 'x'.repeat(100_000) }),
      'no client': drop('client_id'),
      'unknown redirect address': set({ redirect_uri: 'https://other.example/back' }),
      HAIP,
      'invalid proof': invalidProof,
      'no response type': drop('response_type'),
      'unknown resource': set({ resource: 'https://other.example' }),
      'unknown scope': set({ scope: 'x' }),
      'proof of another key': async ({ headers }) => (headers['dpop'] = await proveDpop(other, pushAuthorization)),
    });
    expect(rows).toEqual<Row[]>([
      ['content type', 'invalid_request', 'the content type must be application/x-www-form-urlencoded', '', ''],
      ['parameter in the query', 'invalid_request', 'parameters must be in the body, not in the query string', '', ''],
      [
        'too long',
        'invalid_request',
        'the form-encoded parameters must have at most 16384 characters together',
        '',
        '',
      ],
      ['no client', 'invalid_request', 'client_id must be sent once, with a value', '', ''],
      [
        'unknown redirect address',
        'invalid_request',
        'redirect_uri must be one of the redirect URIs that are registered for the wallet',
        '',
        '',
      ],
      ['HAIP', 'unauthorized_client', 'client_id must be the one of a wallet that attests itself (HAIP 1.0)', '', ''],
      ['invalid proof', 'invalid_dpop_proof', 'DPoP proof: must be a compact JWS', 'recorded', ''],
      ['no response type', 'invalid_request', 'response_type is missing', 'recorded', ''],
      [
        'unknown resource',
        'invalid_target',
        'resource must be http://1111.localhost:8080, not https://other.example',
        'recorded',
        '',
      ],
      ['unknown scope', 'invalid_scope', 'scope must name a credential configuration of this issuer', 'recorded', ''],
      [
        'proof of another key',
        'invalid_dpop_proof',
        'the DPoP proof must be made with the key that dpop_jkt names',
        'recorded',
        '',
      ],
      ['no fault', '201', '', 'recorded', 'spent'],
    ]);
  });

  it('of the authorization endpoint', async () => {
    const make = async (): Promise<Request> => ({
      query: authorization({ scope: 'jwt_vc_json:Course' }),
      headers: {},
      body: {},
      settings: { ...NO_SETTINGS },
    });
    const inQueryOf =
      (fault: Fault): Fault =>
      (request) =>
        fault({ ...request, body: request.query });
    const rows = await answersTo(authorize, make, {
      'no client': inQueryOf(drop('client_id')),
      'unknown redirect address': inQueryOf(set({ redirect_uri: 'https://other.example/back' })),
      HAIP,
      'pushed requests required': ({ settings }) => (settings.requirePushedAuthorizationRequests = true),
      'no response type': inQueryOf(drop('response_type')),
      'unknown resource': inQueryOf(set({ resource: 'https://other.example' })),
      'unknown scope': inQueryOf(set({ scope: 'x' })),
    });
    expect(rows).toEqual<Row[]>([
      ['no client', 'invalid_request', 'client_id must be sent once, with a value', '', ''],
      [
        'unknown redirect address',
        'invalid_request',
        'redirect_uri must be one of the redirect URIs that are registered for the wallet',
        '',
        '',
      ],
      ['HAIP', 'unauthorized_client', 'client_id must be the one of a wallet that attests itself (HAIP 1.0)', '', ''],
      [
        'pushed requests required',
        'invalid_request',
        'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)',
        'recorded',
        '',
      ],
      ['no response type', 'invalid_request', 'response_type is missing', 'recorded', ''],
      [
        'unknown resource',
        'invalid_target',
        'resource must be http://1111.localhost:8080, not https://other.example',
        'recorded',
        '',
      ],
      ['unknown scope', 'invalid_scope', 'scope must name a credential configuration of this issuer', 'recorded', ''],
      ['no fault', '302', '', '', ''],
    ]);
  });
});
