// The full pre-authorized flow of a wallet: offer, token, nonce, credential with a fresh ES256 proof.
import { generateKeyPairSync, sign } from 'node:crypto';
import { MDOC_ELEMENTS, MDOC_NAMESPACE, MDOC_TYPE } from './format-work.mjs';

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_BODY = { 'content-type': 'application/json' };
export const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
/** More than the server caches, so that it imports an unknown key for each credential. */
const KEYS = 20_000;

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Holder keys, created before the measurement: a wallet would create them on its own machine. */
export const makeHolderKeys = (count = KEYS) =>
  Array.from({ length: count }, () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
    return { privateKey, header: base64url({ typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }) };
  });

export const makeProof = ({ privateKey, header }, aud, nonce) => {
  const input = `${header}.${base64url({ aud, iat: Math.floor(Date.now() / 1000), nonce })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
};

/** Every element is static, because offers of all formats have the same claims. */
const mdocConfiguration = {
  type: MDOC_TYPE,
  claimMappings: {
    [MDOC_NAMESPACE]: Object.fromEntries(
      Object.entries(MDOC_ELEMENTS).map(([name, [type, defaultValue]]) => [name, { type, defaultValue }]),
    ),
  },
  expiresIn: { years: 1 },
};

/** A tenant with a client, a DID and a configuration of each of these formats. */
export const prepare = async (http, { managementHost, authHost, credentials }, formats) => {
  const { access_token: management } = await http.send(
    'POST',
    managementHost,
    '/oauth/token',
    JSON_BODY,
    JSON.stringify({ ...credentials, grant_type: 'client_credentials' }),
  );
  const asManagement = { ...JSON_BODY, authorization: `Bearer ${management}` };
  const { data } = await http.send('GET', managementHost, '/v1/environments', asManagement);
  const tenant = await http.send(
    'POST',
    managementHost,
    '/v1/tenants',
    asManagement,
    JSON.stringify({ name: 'Bench', subdomain: 'bench', environmentId: data[0].id }),
    201,
  );
  const host = tenant.subdomain;
  const issuer = `http://${host}`;
  const { clientId, clientSecret } = tenant.client;
  const { access_token: token } = await http.send(
    'POST',
    authHost,
    '/oauth/token',
    JSON_BODY,
    JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      audience: issuer,
      grant_type: 'client_credentials',
    }),
  );
  const asClient = { ...JSON_BODY, authorization: `Bearer ${token}` };
  const create = (path, body) => http.send('POST', host, path, asClient, JSON.stringify(body), 201);
  await create('/v1/dids', { method: 'web', options: { url: host } });
  const configuration = {
    type: 'BenchCredential',
    name: 'Bench credential',
    issuer: { name: 'Bench' },
    claimMappings: {
      givenName: { mapFrom: 'claims.given_name', required: true },
      familyName: { mapFrom: 'claims.family_name' },
      course: { defaultValue: 'Event sourcing' },
    },
    expiresIn: { years: 1 },
  };
  const jwt = await create('/v2/credentials/jwt-vc/configurations', configuration);
  const ldp = await create('/v2/credentials/web-semantic/configurations', configuration);
  const configurations = { jwt_vc_json: jwt.id, ldp_vc: ldp.id };
  const { type, claimMappings, expiresIn } = configuration;
  const cwt = { claimMappings, expiresIn };
  if (formats.includes('dc+sd-jwt'))
    configurations['dc+sd-jwt'] = (await create('/v2/credentials/sd-jwt/configurations', configuration)).id;
  if (formats.includes('cwt'))
    configurations.cwt = (await create('/v2/credentials/compact/configurations', { ...cwt, type })).id;
  if (formats.includes('cwt_vc')) {
    const semantic = { ...cwt, type: `Semantic${type}` };
    configurations.cwt_vc = (await create('/v2/credentials/compact-semantic/configurations', semantic)).id;
  }
  if (formats.includes('mso_mdoc')) {
    const iaca = await create('/v2/credentials/mobile/iacas', { country: 'NZ' });
    await http.send('PUT', host, `/v2/credentials/mobile/iacas/${iaca.id}`, asClient, '{"active":true}');
    configurations.mso_mdoc = (await create('/v2/credentials/mobile/configurations', mdocConfiguration)).id;
  }
  return { host, issuer, asClient, configurations };
};

/** A request without anything durable. */
export const requestNonce = async (http, { host }) => (await http.send('POST', host, '/v1/openid/nonce', {})).c_nonce;

/** The code of a new offer. */
export const makeOffer = async (http, { host, asClient }, configurationId) => {
  const offer = await http.send(
    'POST',
    host,
    '/v1/openid/offers/pre-authorized',
    asClient,
    JSON.stringify({ credentials: [configurationId], claims: { given_name: 'Ada', family_name: 'Lovelace' } }),
  );
  const { grants } = JSON.parse(new URL(offer.uri).searchParams.get('credential_offer'));
  return grants[GRANT]['pre-authorized_code'];
};

/** One credential, from the offer to the response. */
const issueOne = async (http, tenant, configurationId, key) => {
  const { host, issuer } = tenant;
  const code = await makeOffer(http, tenant, configurationId);
  const form = new URLSearchParams({ grant_type: GRANT, 'pre-authorized_code': code }).toString();
  const { access_token: token } = await http.send('POST', host, '/v1/oauth/token', FORM, form);
  const nonce = await requestNonce(http, tenant);
  const { credentials } = await http.send(
    'POST',
    host,
    '/v1/openid/credential',
    { ...JSON_BODY, authorization: `Bearer ${token}` },
    JSON.stringify({
      credential_configuration_id: configurationId,
      proofs: { jwt: [makeProof(key, issuer, nonce)] },
    }),
  );
  if (credentials.length !== 1) throw new Error('no credential');
};

/** One round of a wallet: collects a credential of a format in the plain flow or in its own, or only requests a nonce. */
export const runOnce = (http, tenant, what, key) =>
  typeof what === 'function'
    ? what(http, tenant, key)
    : what === 'nonce'
      ? requestNonce(http, tenant)
      : issueOne(http, tenant, tenant.configurations[what], key);
