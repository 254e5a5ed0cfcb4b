import { oauthError } from '@attestry/contracts';
import { refusalPage } from './refusal-page.js';

describe('the page of a refused authorization request', () => {
  const page = refusalPage(oauthError('invalid_request', 'redirect_uri is "<b>none</b>"'), {
    issuer: 'https://acme.issuer.example',
    requestId: 'r<1',
  }).$http;

  it('states the reason, without scripts and without content of the request', () => {
    expect(page.status).toBe(400);
    const body = page.body as string;
    expect(body).toContain('<html lang="en">');
    expect(body).toContain('<h1>You cannot sign in with this link</h1>');
    expect(body).toContain('<dd>invalid_request</dd>');
    expect(body).toContain('acme.issuer.example');
    expect(body).toContain('<dd>r&lt;1</dd>');
    expect(body).not.toMatch(/<script|<b>|<a |<form|https?:\/\//);
  });

  it('is a 400 for a client that is not authenticated, because it has no challenge', () => {
    const refusal = oauthError('invalid_client', 'x');
    expect(refusalPage(refusal, { issuer: 'https://acme.issuer.example', requestId: 'r' }).$http.status).toBe(400);
  });

  it('loads nothing, cannot be framed, and sends no referrer', () => {
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'none'; frame-ancestors 'none'; base-uri 'none'$/,
      ),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });
});
