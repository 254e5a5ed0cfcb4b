/** @engines embedded */
import { createHash, randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import {
  checkAccessibility,
  chromiumPath,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  parseConsentPage,
  PLATFORM_START_MS,
  sharedPlatform,
  skipSuite,
  startBrowser,
  TENANT_CLIENT,
  verifyLdpVc,
  Wallet,
  type TenantUnderTest,
} from '@attestry/testing';

const WALLET = 'https://wallet.example';
const BACK = `${WALLET}/back`;
/** Another site, whose pages the tests write. */
const EVIL = 'http://evil.localhost:9';

const suite = 'e2e: the consent page in a browser';
const missing = chromiumPath() === undefined ? 'Chromium is not installed (Debian: apt install chromium)' : undefined;
if (missing !== undefined) skipSuite(suite, missing);

(missing === undefined ? describe : describe.skip)('the consent page', () => {
  let provider: OpenIdProvider;
  let tenant: TenantUnderTest;
  let browser: Browser;
  let course: string;

  beforeAll(async () => {
    provider = await OpenIdProvider.start('https://management.example');
    provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
    const platform = await sharedPlatform();
    browser = await startBrowser();
    tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'consenting');
    const settings = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters: ['login_hint'] };
    expectStatus(await tenant.api.authenticationProviders.create(settings), 201);
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    const configuration = {
      ...{ type: 'Course', name: 'Course certificate', issuer: { name: 'College' }, issuerDid: did },
      display: [{ name: 'Course certificate' }, { name: 'Kurszertifikat', locale: 'de' }],
      claimMappings: { given_name: { mapFrom: 'claims.given_name', required: true } },
    };
    course = expectStatus(await tenant.api.webSemantic.create(configuration), 201).id;
  }, 2 * PLATFORM_START_MS);
  afterAll(async () => {
    await browser?.close();
    await provider?.stop();
  });

  const authorizeUrl = (more: Record<string, string> = {}): string =>
    `${tenant.url}/v1/oauth/authorize?${new URLSearchParams({
      ...{ response_type: 'code', client_id: WALLET, redirect_uri: BACK, scope: 'ldp_vc:Course', state: 'its-state' },
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      ...{ code_challenge_method: 'S256', login_hint: 'zoe' },
      ...more,
    })}`;

  /** Addresses that the browser sent requests to. */
  const inBrowser = async <T>(
    test: (page: Page, requested: string[], context: BrowserContext) => Promise<T>,
    options: BrowserContextOptions = {},
  ): Promise<T> => {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    try {
      const requested: string[] = [];
      context.on('request', (request) => requested.push(request.url()));
      return await test(await context.newPage(), requested, context);
    } finally {
      await context.close();
    }
  };
  /** Up to the request to the wallet, whose host is not resolved. */
  const approve = async (page: Page, isThere = (url: string): boolean => url.startsWith(BACK)): Promise<URL> => {
    const leaves = page.waitForRequest((request) => isThere(request.url()));
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Continue and sign in' }).click();
    return new URL((await leaves).url());
  };
  const headingOf = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
  const expectAccessible = async (page: Page): Promise<void> => {
    for (const scheme of ['light', 'dark'] as const) {
      const { violations, passes } = await checkAccessibility(browser, page, scheme);
      expect([scheme, violations]).toEqual([scheme, []]);
      expect(passes).toBeGreaterThan(5);
    }
  };

  it('once approved leads through the sign-in to a credential in a third-party wallet [T230, T231]', async () => {
    const wallet = new Wallet(new URL(WALLET).host);
    const offer = await wallet.resolveOffer(
      expectStatus(await tenant.api.offers.createOpen({ credentials: [course] }), 200).uri,
    );
    const metadata = await wallet.metadata(offer.credential_issuer);
    const before = provider.requests.length;
    const token = await inBrowser((page) =>
      wallet.authorizedToken(offer, metadata, {
        ...{ redirectUri: BACK, scope: 'ldp_vc:Course', parameters: { login_hint: 'zoe' } },
        browser: {
          follow: async (start, isThere) => {
            await page.goto(start);
            expect(await headingOf(page)).toBe('Allow this wallet to receive your credentials?');
            expect(await page.getByRole('listitem').allInnerTexts()).toEqual(['Course certificate']);
            expect(await page.getByRole('strong').innerText()).toBe('wallet.example');
            expect(provider.requests).toHaveLength(before);
            return approve(page, isThere);
          },
        },
      }),
    );
    const [credential] = await wallet.credentials(metadata, token.access_token, course, [
      await makeHolderKey('EdDSA', 'did:key'),
    ]);
    await verifyLdpVc(credential as Record<string, unknown>);
    expect((credential as Record<string, unknown>)['credentialSubject']).toMatchObject({ given_name: 'Zoë' });
  });

  it('cannot be approved by clicks on the button alone [T232]', () =>
    inBrowser(async (page, requested) => {
      await page.goto(authorizeUrl());
      await page.getByRole('button', { name: 'Continue and sign in' }).dblclick();
      expect(await headingOf(page)).toBe('Allow this wallet to receive your credentials?');
      expect(requested).toHaveLength(1);
    }));

  it('once refused redirects nowhere [T234]', () =>
    inBrowser(async (page, requested) => {
      const before = provider.requests.length;
      await page.goto(authorizeUrl());
      await page.getByRole('button', { name: 'Refuse' }).click();
      expect(await headingOf(page)).toBe('You refused');
      await expectAccessible(page);
      expect(new Set(requested.map((url) => new URL(url).origin))).toEqual(new Set([tenant.url]));
      expect(provider.requests).toHaveLength(before);
      // The form of the page before is not accepted again.
      await page.goBack();
      expect(await headingOf(page)).toBe('Allow this wallet to receive your credentials?');
    }));

  it('returns an error to the wallet after an approval when the person does not sign in [T230]', () =>
    inBrowser(async (page) => {
      await page.goto(authorizeUrl({ login_hint: '' }));
      const { searchParams } = await approve(page);
      expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['access_denied', 'its-state']);
    }));

  it('is accepted once, and not in another browser [T232]', () =>
    inBrowser(async (page, _requested, context) => {
      await page.goto(authorizeUrl());
      const { action, fields } = parseConsentPage(await page.content())!;
      const cookies = await context.cookies(tenant.url + action);
      expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: action }]);
      const submit = async (cookie: string) => {
        const body = new URLSearchParams({ ...fields, decision: 'approve' });
        const answer = await hostFetch(tenant.url + action, { method: 'POST', body, headers: { cookie } });
        return [answer.status, (await answer.text()).includes('This request has ended')];
      };
      expect(await submit('')).toEqual([400, true]);
      await approve(page);
      expect(await submit(`${cookies[0]!.name}=${cookies[0]!.value}`)).toEqual([400, true]);
      // The first page is still on its way to the wallet, whose host is not resolved.
      const second = await context.newPage();
      await second.goto(authorizeUrl());
      await context.clearCookies();
      await second.getByRole('checkbox').check();
      await second.getByRole('button', { name: 'Continue and sign in' }).click();
      await second.getByRole('heading', { name: 'This request has ended' }).waitFor();
      await expectAccessible(second);
    }));

  it('is not accepted from a page of another site, and not framed by one [T232]', () =>
    inBrowser(async (page, _requested, context) => {
      await page.goto(authorizeUrl());
      const stolen = (await page.content()).replace('action="', `action="${tenant.url}`);
      const evil = await context.newPage();
      let body = stolen;
      await context.route(`${EVIL}/**`, (route) => route.fulfill({ contentType: 'text/html', body }));
      await evil.goto(`${EVIL}/form`);
      await evil.getByRole('checkbox').check();
      await evil.getByRole('button', { name: 'Continue and sign in' }).click();
      expect(await headingOf(evil)).toBe('You cannot sign in with this link');
      expect(await evil.content()).toContain('the form must be sent from the page of this issuer');
      const framed = async (url: string) => {
        body = `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`;
        await evil.goto(`${EVIL}/frame`);
        return evil.frames()[1]!.url();
      };
      const own = `${EVIL}/inner`;
      expect([await framed(own), await framed(authorizeUrl())]).toEqual([own, 'chrome-error://chromewebdata/']);
      // The page itself is still accepted.
      expect((await approve(page)).searchParams.get('code')).toEqual(expect.any(String));
    }));

  it.each([
    ['en', 'Continue and sign in', 'Course certificate'],
    ['de', 'Weiter zur Anmeldung', 'Kurszertifikat'],
    ['fr', 'Continuer et se connecter', 'Course certificate'],
    ['es', 'Continuar e iniciar sesión', 'Course certificate'],
  ])('is accessible in %s, at 320 px, light and dark [T233]', (language, button, credential) =>
    inBrowser(
      async (page) => {
        await page.goto(authorizeUrl({ ui_locales: `it ${language}` }));
        expect(await page.locator('html').getAttribute('lang')).toBe(language);
        expect(await page.getByRole('listitem').allInnerTexts()).toEqual([credential]);
        await page.getByRole('button', { name: button }).waitFor();
        await expectAccessible(page);
        const { width } = (await page.locator('html').boundingBox())!;
        for (const element of await page.locator('body *').all()) {
          const box = await element.boundingBox();
          if (box) expect([box.x >= 0, box.x + box.width <= width]).toEqual([true, true]);
        }
      },
      { viewport: { width: 320, height: 640 }, locale: 'it-IT' },
    ),
  );

  it('has the language of the browser without ui_locales, and can be used by keyboard [T233]', () =>
    inBrowser(
      async (page) => {
        await page.goto(authorizeUrl());
        expect(await page.locator('html').getAttribute('lang')).toBe('de');
        const focused = page.locator(':focus');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Space');
        expect(await page.getByRole('checkbox', { name: 'vertraue der Adresse wallet.example' }).isChecked()).toBe(
          true,
        );
        await page.keyboard.press('Tab');
        expect(await focused.innerText()).toBe('Weiter zur Anmeldung');
        await page.keyboard.press('Tab');
        expect(await focused.innerText()).toBe('Ablehnen');
        expect(
          await focused.evaluate(
            (element) => element.ownerDocument.defaultView!.getComputedStyle(element).outlineStyle,
          ),
        ).toBe('solid');
        await page.keyboard.press('Enter');
        await page.waitForURL('**/consent');
        expect(await headingOf(page)).toBe('Sie haben abgelehnt');
      },
      { locale: 'de-AT' },
    ));
});
