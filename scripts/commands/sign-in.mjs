import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { addressesOf, FILE_OPTION, fileOf, keepSignIn, withExchangedToken } from '../cli/kept-sign-in.mjs';
import { send } from '../cli/send.mjs';

const WAIT_MS = 15 * 60_000;

/** Authorization code with PKCE and a loopback redirect (RFC 8252), with Node alone. */
export default {
  group: 'Operate',
  description:
    'sign in at the built-in sign-in or your OpenID provider and print an access token for the management API, or keep it for calls to a tenant',
  options: [
    {
      flags: '--issuer <url>',
      about:
        'address of the built-in sign-in or of the provider; default: the sign-in of a platform with the same PORT, BASE_DOMAIN and PUBLIC_SCHEME',
    },
    {
      flags: '--client-id <id>',
      about: 'public client at the issuer, with the redirect URI http://127.0.0.1:<any port>/callback',
      default: 'attestry-cli',
    },
    { flags: '--scope <scopes>', about: 'scopes to request, separated by spaces', default: 'openid manage' },
    {
      flags: '--tenant <tenant>',
      about: 'subdomain or address of a tenant: keeps the token for `npx attestry call` instead of printing it',
    },
    {
      flags: '--authorization-host <url>',
      about: 'authorization host of the tenant; default: auth. before the domain of the tenant',
    },
    FILE_OPTION,
  ],
  examples: [
    'npm run sign-in',
    'npx attestry sign-in --tenant acme',
    'npm run sign-in -- --issuer https://auth.example.com/people',
    'npm run sign-in -- --issuer https://sso.example.com/realms/staff --client-id attestry-cli --scope openid',
  ],
  run: async ({ options }, cli) => {
    const named = options.issuer ?? defaultIssuer(process.env);
    if (!URL.canParse(named)) cli.wrongUsage('--issuer must be a URL');
    const addresses =
      options.tenant === undefined
        ? undefined
        : addressesOf(options.tenant, { ...options, issuer: named }, process.env);
    if (options.tenant !== undefined && !addresses)
      cli.wrongUsage('--tenant must be a subdomain or an address, --authorization-host an address');
    const metadata = await discover(named);
    const { authorization_endpoint: authorize, token_endpoint: token } = metadata;
    const verifier = randomBytes(32).toString('base64url');
    const state = randomBytes(16).toString('base64url');
    const back = http.createServer();
    back.listen(0, '127.0.0.1');
    await once(back, 'listening');
    const redirectUri = `http://127.0.0.1:${back.address().port}/callback`;
    const address = new URL(authorize);
    const parameters = {
      client_id: options.clientId,
      response_type: 'code',
      scope: options.scope,
      redirect_uri: redirectUri,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    // The endpoint may have a query of its own (RFC 6749 §3.1).
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    cli.note(`Open this address in a browser and sign in:\n\n${address.href}\n`);
    const code = await cli.step('sign-in in the browser', () => codeFrom(back, state, metadata));
    const answer = await send(token, {
      form: {
        grant_type: 'authorization_code',
        client_id: options.clientId,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
    });
    if (answer.status !== 200) throw new Error(`the token endpoint returned ${answer.status}: ${answer.text}`);
    const document = JSON.parse(answer.text);
    if (addresses) return keep(addresses, document, fileOf(options), cli);
    if (!cli.json) cli.say(document.access_token);
    return { document };
  },
};

/** Exchanged at once, so that it fails here where the person is no member of the tenant. */
async function keep(addresses, { access_token: token, expires_in: seconds = 300 }, file, cli) {
  const expiresAt = Date.now() + seconds * 1000;
  await keepSignIn(file, await withExchangedToken({ ...addresses, token, expiresAt }));
  cli.say(`signed in for ${addresses.tenant} until ${new Date(expiresAt).toISOString()}`);
  return { document: { ok: true, tenant: addresses.tenant, expiresAt: new Date(expiresAt).toISOString(), file } };
}

/** The platform derives it from its settings in the same way. */
const defaultIssuer = ({ PORT, BASE_DOMAIN, PUBLIC_SCHEME }) =>
  `${PUBLIC_SCHEME || 'http'}://auth.${BASE_DOMAIN || `localhost:${PORT || 8080}`}/people`;

async function discover(issuer) {
  const { status, text } = await send(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`).catch(
    (cause) => {
      throw new Error(
        cause.code === 'ECONNREFUSED'
          ? `no server accepts connections at ${issuer}: start the platform, or name its sign-in with --issuer`
          : cause.message,
        { cause },
      );
    },
  );
  if (status !== 200) throw new Error(`the discovery document of ${issuer} was not found: status ${status}`);
  const metadata = JSON.parse(text);
  if (metadata.issuer !== issuer)
    throw new Error(`the discovery document of ${issuer} names another issuer: ${metadata.issuer}`);
  return metadata;
}

/** The code from the redirect; `state` and, where the provider sends it, `iss` (RFC 9207 §2.4) identify it as the response to our request. */
async function codeFrom(server, state, metadata) {
  const issuers = metadata.authorization_response_iss_parameter_supported ? [metadata.issuer] : [metadata.issuer, null];
  const signal = AbortSignal.timeout(WAIT_MS);
  for (;;) {
    const [request, response] = await once(server, 'request', { signal }).catch((cause) => {
      throw new Error('the sign-in was not completed within 15 minutes; run the command again', { cause });
    });
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    const isAnswer = pathname === '/callback' && searchParams.get('state') === state;
    const isOurs = isAnswer && issuers.includes(searchParams.get('iss'));
    const code = isOurs ? searchParams.get('code') : null;
    const said = code
      ? 'You are signed in. Go back to the command line.'
      : 'The sign-in failed. Go back to the command line.';
    response.writeHead(isOurs ? 200 : 400, { 'content-type': 'text/html; charset=utf-8', connection: 'close' });
    await new Promise((resolve) =>
      response.end(`<!doctype html><html lang="en"><title>Attestry</title><h1>${said}</h1></html>`, resolve),
    );
    if (code) return code;
    if (isOurs) throw new Error(`the sign-in failed: ${failureOf(searchParams)}`);
  }
}

/** RFC 6749 §4.1.2.1. Without characters that a terminal interprets. */
const failureOf = (parameters) => {
  const [error, description] = ['error', 'error_description'].map((name) =>
    (parameters.get(name) ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 200),
  );
  const advice = error === 'invalid_scope' ? '; name scopes of the provider with --scope' : '';
  return `${error}${description && ` (${description})`}${advice}`;
};
