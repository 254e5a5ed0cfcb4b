import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { send } from '../cli/send.mjs';

const WAIT_MS = 15 * 60_000;

/** Authorization code with PKCE and a loopback redirect (RFC 8252), with Node alone. */
export default {
  group: 'Operate',
  description: 'sign in through the built-in sign-in and print an access token for the management API',
  options: [
    {
      flags: '--issuer <url>',
      about:
        'address of the built-in sign-in; default: that of a platform with the same PORT, BASE_DOMAIN and PUBLIC_SCHEME',
    },
  ],
  examples: ['npm run sign-in', 'npm run sign-in -- --issuer https://auth.example.com/people'],
  run: async ({ options }, cli) => {
    const named = options.issuer ?? defaultIssuer(process.env);
    if (!URL.canParse(named)) cli.wrongUsage('--issuer must be a URL');
    const { issuer, authorization_endpoint: authorize, token_endpoint: token } = await discover(named);
    const verifier = randomBytes(32).toString('base64url');
    const state = randomBytes(16).toString('base64url');
    const back = http.createServer();
    back.listen(0, '127.0.0.1');
    await once(back, 'listening');
    const redirectUri = `http://127.0.0.1:${back.address().port}/callback`;
    const address = new URL(authorize);
    address.search = new URLSearchParams({
      client_id: 'attestry-cli',
      response_type: 'code',
      scope: 'openid manage',
      redirect_uri: redirectUri,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    cli.note(`Open this address in a browser and sign in:\n\n${address.href}\n`);
    const code = await cli.step('sign-in in the browser', () => codeFrom(back, { state, issuer }));
    const answer = await send(token, {
      form: {
        grant_type: 'authorization_code',
        client_id: 'attestry-cli',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
    });
    if (answer.status !== 200) throw new Error(`the token endpoint returned ${answer.status}: ${answer.text}`);
    const document = JSON.parse(answer.text);
    if (!cli.json) cli.say(document.access_token);
    return { document };
  },
};

/** As the platform derives it from its settings. */
const defaultIssuer = ({ PORT, BASE_DOMAIN, PUBLIC_SCHEME }) =>
  `${PUBLIC_SCHEME || 'http'}://auth.${BASE_DOMAIN || `localhost:${PORT || 8080}`}/people`;

async function discover(issuer) {
  const { status, text } = await send(`${issuer}/.well-known/openid-configuration`).catch((cause) => {
    throw new Error(
      cause.code === 'ECONNREFUSED'
        ? `no server accepts connections at ${issuer}: start the platform, or name its sign-in with --issuer`
        : cause.message,
      { cause },
    );
  });
  if (status !== 200) throw new Error(`the discovery document of ${issuer} was not found: status ${status}`);
  const metadata = JSON.parse(text);
  if (metadata.issuer !== issuer)
    throw new Error(`the discovery document of ${issuer} names another issuer: ${metadata.issuer}`);
  return metadata;
}

/** The code from the redirect; `state` and `iss` (RFC 9207) identify it as the response to our request. */
async function codeFrom(server, { state, issuer }) {
  const signal = AbortSignal.timeout(WAIT_MS);
  for (;;) {
    const [request, response] = await once(server, 'request', { signal }).catch((cause) => {
      throw new Error('the sign-in was not completed within 15 minutes; run the command again', { cause });
    });
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    const isAnswer = pathname === '/callback' && searchParams.get('state') === state;
    const isOurs = isAnswer && searchParams.get('iss') === issuer;
    const code = isOurs ? searchParams.get('code') : null;
    const said = code
      ? 'You are signed in. Go back to the command line.'
      : 'The sign-in failed. Go back to the command line.';
    response.writeHead(isOurs ? 200 : 400, { 'content-type': 'text/html; charset=utf-8', connection: 'close' });
    await new Promise((resolve) =>
      response.end(`<!doctype html><html lang="en"><title>Attestry</title><h1>${said}</h1></html>`, resolve),
    );
    if (code) return code;
    if (isOurs) throw new Error(`the sign-in failed: ${searchParams.get('error')}`);
  }
}
