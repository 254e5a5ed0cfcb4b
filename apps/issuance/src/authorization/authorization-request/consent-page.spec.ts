import {
  consentPage,
  continuePage,
  endedConsentPage,
  refusedConsentPage,
  type ConsentQuestion,
} from './consent-page.js';
import { CONSENT_TEXTS, type PageLanguage } from './consent-texts.js';

const ISSUER = 'https://acme.issuer.example';
const ID = '11111111-1111-4111-8111-111111111111';
const BINDING = { cookie: { id: ID, secret: 'the-secret' }, token: 'the-token' };
const inLanguage = (language: PageLanguage) => ({ preferred: [language], language });
const page = (more: Partial<ConsentQuestion> = {}, language: PageLanguage = 'en') => {
  const question = {
    issuer: ISSUER,
    redirectUri: 'https://wallet.example/back?kept=secret',
    credentials: [[{ name: 'Course' }, { name: 'Kurs', locale: 'de' }]] as const,
    brand: {},
    ...more,
  };
  const { headers, body, status } = consentPage(question, BINDING, inLanguage(language)).$http;
  return { status, headers: headers!, body: body as string, policy: headers!['content-security-policy']! };
};

describe('the consent page', () => {
  it('names the host of the wallet and the credentials, and nothing else of the request [T231]', () => {
    const { status, body, headers } = page();
    expect(status).toBe(200);
    expect(body).toContain('<h1>Allow this wallet to receive your credentials?</h1>');
    expect(body).toContain('<strong><bdi>wallet.example</bdi></strong>');
    expect(body).toContain('<li><bdi>Course</bdi></li>');
    expect(body).toContain('<bdi>acme.issuer.example</bdi> does not know this wallet.');
    expect(body).not.toMatch(/<script|kept|\/back|the-secret|\{\w+\}/);
    expect(headers['set-cookie']).toBe(
      `attestry-consent-${ID}=the-secret; Path=/v1/oauth/authorize/consent; Max-Age=600; HttpOnly; SameSite=Strict; Secure`,
    );
  });

  it.each([
    ['https://wallet.example:8443/', 'wallet.example:8443'],
    ['https://xn--wllet-gra.example/', 'xn--wllet-gra.example'],
    ['https://w%C3%A4llet.example/', 'xn--wllet-gra.example'],
    ['https://issuer.example.evil.example/', 'issuer.example.evil.example'],
  ])('shows %s as %s [T231]', (redirectUri, host) =>
    expect(page({ redirectUri }).body).toContain(`<strong><bdi>${host}</bdi></strong>`),
  );

  it('has name and logo of the brand, and loads images only from the origin of the logo [T231]', () => {
    const { body, policy } = page({ brand: { name: 'Acme', logoUrl: 'https://cdn.example:8443/a/logo.png?v=1&x=2' } });
    expect(body).toContain('<img src="https://cdn.example:8443/a/logo.png?v=1&amp;x=2" alt="">');
    expect(body).toContain('<bdi>Acme</bdi><small>acme.issuer.example</small>');
    expect(body).toContain('<bdi>Acme</bdi> does not know this wallet.');
    expect(policy).toContain('; img-src https://cdn.example:8443; ');
  });

  it.each([
    'http://cdn.example/a.png',
    'javascript:alert(1)',
    'https://a;script-src.example/',
    'https://a,b.example/',
    'x',
  ])('shows no logo at %s', (logoUrl) => {
    const { body, policy } = page({ brand: { name: 'Acme', logoUrl } });
    expect(body).not.toContain('<img');
    expect(policy).not.toContain('img-src');
    expect(body).toContain('<bdi>Acme</bdi>');
  });

  it('escapes the names of brand and credentials', () => {
    const name = `<b onclick='x'>"&amp;{host}`;
    const { body } = page({ brand: { name, logoUrl: 'https://cdn.example/"><b>' }, credentials: [[{ name }]] });
    const escaped = '&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;{host}';
    expect(body.split(`<bdi>${escaped}</bdi>`)).toHaveLength(5);
    expect(body).not.toContain('<b>');
    expect(body).not.toContain('<b ');
  });

  it('sends its form to the issuer alone, cannot be framed, loads nothing and is not stored [T232]', () => {
    const { headers, policy } = page();
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  it.each(Object.keys(CONSENT_TEXTS) as PageLanguage[])('is complete in %s [T233]', (language) => {
    const { body, headers } = page({}, language);
    expect(body).toContain(`<html lang="${language}">`);
    expect(headers['content-language']).toBe(language);
    const { title, approve, refuse, wallet, effect } = CONSENT_TEXTS[language];
    for (const text of [title, approve, refuse, wallet, effect]) expect(body).toContain(text);
    expect(body).toContain(language === 'de' ? '<li lang="de"><bdi>Kurs</bdi></li>' : '<li><bdi>Course</bdi></li>');
    expect(body).toContain(`<input type="hidden" name="ui_locales" value="${language}">`);
  });

  it('has texts that name issuer and host where the English ones do', () => {
    const placesOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const texts of Object.values(CONSENT_TEXTS))
      for (const [name, text] of Object.entries(texts))
        expect([name, placesOf(text)]).toEqual([name, placesOf(CONSENT_TEXTS.en[name as 'title'])]);
  });
});

describe('the pages after the form', () => {
  const at = { issuer: ISSUER, languages: inLanguage('fr') };

  it('continue by themselves, with a link, and have no form', () => {
    const { status, headers, body } = continuePage(at, 'https://login.example/a?x=1&y="', {
      'set-cookie': 'a=b',
    }).$http;
    expect([status, headers!['set-cookie']]).toEqual([200, 'a=b']);
    const target = 'https://login.example/a?x=1&amp;y=%22';
    expect(body).toContain(`<meta http-equiv="refresh" content="0;url=${target}">`);
    expect(body).toContain(`<a href="${target}">Continuer</a>`);
    expect(headers!['content-security-policy']).toContain("form-action 'none'; frame-ancestors 'none'");
  });

  it('redirect nowhere after a refusal, and when the form is not accepted [T234]', () => {
    const [refused, ended] = [refusedConsentPage(at, {}), endedConsentPage(at)].map(({ $http }) => $http);
    expect([refused!.status, ended!.status]).toEqual([200, 400]);
    expect(refused!.body).toContain('<h1>Vous avez refusé</h1>');
    expect(ended!.body).toContain('Recommencez dans votre portefeuille.');
    for (const { body, headers } of [refused!, ended!]) {
      expect(body).not.toMatch(/<form|<a |http-equiv|https?:/);
      expect(headers).not.toHaveProperty('location');
      expect(headers).not.toHaveProperty('refresh');
    }
  });
});
