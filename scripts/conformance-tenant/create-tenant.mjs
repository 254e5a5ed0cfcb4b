import { send } from '../cli/send.mjs';

const DOC_TYPE = 'org.example.conformance.1';
/** Constant, so that they need no account of the provider. */
const claims = { given_name: { defaultValue: 'Erika' }, level: { defaultValue: 'gold' } };

/**
 * A tenant as the plans of the suite expect it: a provider, two wallets that attest themselves, a credential configuration of each format
 * with an end, and an active IACA. For HAIP its SD-JWT credentials have a status, and the profile is on.
 *
 * @param {{ at: string, subdomain: string, callback: string, provider: string, isHaip: boolean, requiresKeyAttestation: boolean }} wanted
 * @param {{ rootCertificate: string }} attester
 * @param {Record<string, string>} secrets of the management client and of the client at the provider
 * @throws Error with the request that failed and its answer
 */
export async function createTenant(wanted, { rootCertificate }, secrets) {
  const { at, subdomain, callback, provider, isHaip, requiresKeyAttestation } = wanted;
  const { protocol, host } = new URL(at);
  const [management, auth] = ['management', 'auth'].map((name) => `${protocol}//${name}.${host}`);
  const tokenFor = async (clientId, clientSecret, audience) => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, audience };
    return (await call('POST', `${auth}/oauth/token`, { form })).access_token;
  };
  const { MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET } = secrets;
  const operator = bearer(await tokenFor(MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET, management));
  const { data: environments } = await call('GET', `${management}/v1/environments`, operator);
  const environment = environments.find(({ domain }) => domain === host);
  if (!environment)
    throw new Error(
      `the platform has no environment with the domain ${host}, only ${environments.map(({ domain }) => domain).join(', ')}`,
    );
  const created = await call('POST', `${management}/v1/tenants`, {
    ...operator,
    json: { name: `Conformance (${subdomain})`, subdomain, environmentId: environment.id },
  });
  const url = `${protocol}//${created.subdomain}`;
  const { clientId, clientSecret } = created.client;
  const admin = bearer(await tokenFor(clientId, clientSecret, url));
  const post = (path, json) => call('POST', `${url}${path}`, { ...admin, json });
  const put = (path, json) => call('PUT', `${url}${path}`, { ...admin, json });

  await post('/v1/users/authentication-providers', {
    url: provider,
    clientId: PROVIDER_CLIENT_ID,
    clientSecret: PROVIDER_CLIENT_SECRET,
  });
  // The suite uses one with a query too.
  const redirectUris = [callback, `${callback}?dummy1=lorem&dummy2=ipsum`];
  const clientIds = [`${subdomain}-1`, `${subdomain}-2`];
  for (const id of clientIds)
    await post('/v1/openid/wallet-attestation-configurations', {
      ...{ name: `Conformance suite ${id}`, clientId: id, redirectUris },
      ...{ rootCertificates: [rootCertificate], dpopRequired: false },
    });
  const iaca = await post('/v2/credentials/mobile/iacas', { country: 'AU' });
  await put(`/v2/credentials/mobile/iacas/${iaca.id}`, { active: true });
  const configured = {
    expiresIn: { months: 6 },
    ...(requiresKeyAttestation && { keyAttestation: { rootCertificates: [rootCertificate] } }),
  };
  // The plain plan does not find the key of a status list that is signed as HAIP demands.
  const sdJwt = await post('/v2/credentials/sd-jwt/configurations', {
    ...{ type: 'ConformancePass', name: 'Conformance pass', issuer: { name: 'Conformance' } },
    ...{ claimMappings: claims, revocable: isHaip, ...configured },
  });
  const mdoc = await post('/v2/credentials/mobile/configurations', {
    ...{ type: DOC_TYPE, claimMappings: { [DOC_TYPE]: claims }, includeStatus: true },
    ...{ branding: { name: 'Conformance pass' }, ...configured },
  });
  if (isHaip) await put('/v1/openid/configuration', { profile: 'haip' });
  const { certificates } = await call('GET', `${url}/v1/openid/issuer-ca`);
  return {
    ...{ id: created.id, url, client: { clientId, clientSecret, tokenEndpoint: `${auth}/oauth/token` }, clientIds },
    ...{ sdJwt: sdJwt.id, mdoc: mdoc.id, issuerCa: certificates[0], iaca: iaca.certificatePem },
  };
}

const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } });

async function call(method, url, parts = {}) {
  const { status, text } = await send(url, { ...parts, method }).catch((cause) => {
    throw new Error(`${method} ${url} failed`, { cause });
  });
  if (status < 200 || status > 299) throw new Error(`${method} ${url} returned ${status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
