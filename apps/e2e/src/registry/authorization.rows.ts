import { expectStatus, parseConsentPage, RedirectBrowser } from '@attestry/testing';
import { decodeJwt, SignJWT } from 'jose';
import type { World } from './world.js';
import type { Row } from './row.js';
import { BACK, form, WALLET } from './things.js';
import { freshProvider } from './tenant-settings.rows.js';

/** A wallet's authorization request for a person with an account at the provider. */
const authorization = ({ own }: World, clientId = WALLET) => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: BACK,
  authorization_details: JSON.stringify([{ type: 'openid_credential', credential_configuration_id: own.jwtVc }]),
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  login_hint: 'ada',
});

export const authorizationRows: Record<string, Row> = {
  'issuance.authorize': {
    right: async (world) => {
      await freshProvider(world);
      return { query: authorization(world) };
    },
    wrong: (world) => ({ query: { ...authorization(world), redirect_uri: 'http://elsewhere.example/' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.submit-consent': {
    right: async (world) => {
      await freshProvider(world);
      const browser = new RedirectBrowser();
      const query = new URLSearchParams(authorization(world, 'unregistered wallet'));
      const page = await browser.openUrl(`${world.tenant.url}/v1/oauth/authorize?${query}`);
      const { action, fields } = parseConsentPage(await page.text())!;
      return {
        body: form({ ...fields, decision: 'approve' }),
        headers: { cookie: browser.cookiesFor(world.tenant.url + action) },
      };
    },
    wrong: () => ({ body: form({ request: 'x', token: 'y', decision: 'maybe' }) }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.push-authorization': {
    right: (world) => ({ body: form(authorization(world)) }),
    wrong: (world) => ({ body: form({ ...authorization(world), request_uri: 'urn:x' }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'issuance.complete-authorization': {
    right: async (world) => {
      await freshProvider(world);
      const browser = new RedirectBrowser();
      const callback = `${world.tenant.url}/v1/oauth/authentication/callback`;
      const start = `${world.tenant.url}/v1/oauth/authorize?${new URLSearchParams(authorization(world))}`;
      const back = await browser.follow(start, (url) => url.startsWith(callback));
      return { query: Object.fromEntries(back.searchParams), headers: { cookie: browser.cookiesFor(callback) } };
    },
    wrong: () => ({ query: { state: 'x', code: 'y' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.complete-interaction': {
    right: async (world) => {
      await freshProvider(world);
      const { tenant } = world;
      const { update } = tenant.api.openIdConfiguration;
      const url = 'https://hook.example.com/visit';
      expectStatus(await update({ interactionHook: null }), 200);
      const { interactionHook: hook } = expectStatus(await update({ interactionHook: { url } }), 200);
      const browser = new RedirectBrowser();
      const callback = `${tenant.url}/v1/oauth/interaction/callback`;
      const start = `${tenant.url}/v1/oauth/authorize?${new URLSearchParams(authorization(world))}`;
      const visit = await browser.follow(start, (address) => address.startsWith(url));
      const { state } = decodeJwt(visit.searchParams.get('session_token')!);
      const token = await new SignJWT({ state })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(url)
        .setAudience(tenant.url)
        .setExpirationTime('1m')
        .sign(Buffer.from(hook!.secret, 'base64'));
      return { query: { session_token: token }, headers: { cookie: browser.cookiesFor(callback) } };
    },
    wrong: () => ({ query: { session_token: 'x' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
};
