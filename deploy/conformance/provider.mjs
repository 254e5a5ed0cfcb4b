// A provider for the browser of the OpenID conformance suite: it asks at each sign-in, on a page with one element to sign in and one to
// cancel. Everyone signs in as the same person, so that it is for that alone.
// node deploy/conformance/provider.mjs [--port 9090] [--issuer <url>] --callback <address of a tenant>…
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { interactionPolicy, Provider } from 'oidc-provider';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9090' },
    /** Its public address behind a proxy; default: that of `port` on this machine. */
    issuer: { type: 'string' },
    /** `<tenant>/v1/oauth/authentication/callback` */
    callback: { type: 'string', multiple: true, default: [] },
  },
});
const { PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET } = process.env;
if (!PROVIDER_CLIENT_ID || !PROVIDER_CLIENT_SECRET || values.callback.length === 0) {
  console.error('PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET and at least one --callback are required');
  process.exit(2);
}

const server = createServer();
server.listen(Number(values.port), '127.0.0.1');
await once(server, 'listening');
const issuer = values.issuer ?? `http://127.0.0.1:${server.address().port}`;

const prompts = interactionPolicy.base();
const eachTime = (ctx) => !ctx.oidc.result?.login;
prompts.get('login').checks.add(new interactionPolicy.Check('each_time', 'the person signs in each time', eachTime));

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: PROVIDER_CLIENT_ID,
      client_secret: PROVIDER_CLIENT_SECRET,
      redirect_uris: ['https://tenant.example/callback'],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub', 'given_name'] },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  interactions: { policy: prompts, url: (_ctx, { uid }) => `/sign-in/${uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, given_name: 'Erika' }) }),
  loadExistingGrant: async ({ oidc }) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid');
    await grant.save();
    return grant;
  },
  cookies: { keys: [randomBytes(16).toString('hex')] },
});
provider.proxy = values.issuer !== undefined;
// Redirect URIs are those of the command line, also with http on this machine.
provider.Client.prototype.redirectUriAllowed = (uri) => values.callback.includes(uri);

const page = `<!doctype html>
<html lang="en"><title>Sign in</title>
<form method="post"><button id="sign-in" name="answer" value="sign-in">Sign in</button>
<button id="cancel" name="answer" value="cancel">Cancel</button></form></html>
`;
const handle = provider.callback();
server.on('request', (request, response) => {
  if (!request.url.startsWith('/sign-in/')) return void handle(request, response);
  if (request.method !== 'POST') return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  finish(request, response).catch((error) => response.writeHead(400).end(String(error)));
});

async function finish(request, response) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const result =
    new URLSearchParams(body).get('answer') === 'sign-in'
      ? { login: { accountId: 'erika' }, consent: {} }
      : { error: 'access_denied', error_description: 'the person cancelled' };
  await provider.interactionFinished(request, response, result);
}
console.log(JSON.stringify({ issuer }));
