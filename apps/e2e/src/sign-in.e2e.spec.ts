/** @engines embedded */
import { createHash } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync, statSync } from 'node:fs';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import {
  ApiClient,
  checkAccessibility,
  chromiumPath,
  connectManagement,
  expectStatus,
  hostFetch,
  MailReceiver,
  ManagementApi,
  PLATFORM_START_MS,
  platformMode,
  skipSuite,
  startBrowser,
  startPlatform,
  waitUntil,
  type RunningPlatform,
} from '@attestry/testing';

const PASSWORD = 'a long enough password';
const repository = join(import.meta.dirname, '../../..');

const suite = 'e2e: the built-in sign-in in a browser';
const missing =
  platformMode() === 'cluster'
    ? 'a cluster has no built-in sign-in'
    : chromiumPath() === undefined
      ? 'Chromium is not installed (Debian: apt install chromium)'
      : undefined;
if (missing !== undefined) skipSuite(suite, missing);

(missing === undefined ? describe : describe.skip)('the built-in sign-in', () => {
  let mail: MailReceiver;
  let platform: RunningPlatform;
  let browser: Browser;
  let owner: ManagementApi;
  let environmentId: string;
  let base: string;

  beforeAll(async () => {
    mail = await MailReceiver.start();
    [platform, browser] = await Promise.all([
      startPlatform({ startTimeoutMs: PLATFORM_START_MS, env: { SMTP_URL: mail.url } }),
      startBrowser(),
    ]);
    base = `${platform.ready.auth}/people`;
    owner = await connectManagement(platform);
    environmentId = expectStatus(await owner.environments.list(), 200).data[0]!.id;
  }, 2 * PLATFORM_START_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await mail?.stop();
  });

  /** A separate browser context, by default without scripts, whose visited pages were checked. */
  const newContext = (): Promise<BrowserContext> => browser.newContext({ javaScriptEnabled: false });

  const makeTenant = async (subdomain: string): Promise<string> =>
    expectStatus(await owner.tenants.create({ subdomain, environmentId }), 201).id;

  const invite = async (tenantId: string, email: string): Promise<string> => {
    const before = mail.to(email).length;
    expectStatus(await owner.members.invite(tenantId, { email, roles: ['admin'] }), 200);
    await waitUntil(() => mail.to(email).length > before, { what: `the e-mail to ${email}` });
    return linkIn(mail.to(email).at(-1)!.text!);
  };
  const linkIn = (text: string): string => /https?:\/\/\S+/.exec(text)![0];

  const signUp = async (page: Page, link: string, name: string): Promise<void> => {
    await page.goto(link);
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account and accept' }).click();
  };

  const headingOf = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

  const expectAccessible = async (page: Page): Promise<void> => {
    const { violations, passes } = await checkAccessibility(browser, page);
    expect(violations).toEqual([]);
    expect(passes).toBeGreaterThan(5);
  };

  const expectGuarded = (response: Response | null): void => {
    const headers = response!.headers();
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
    });
    const policy = headers['content-security-policy']!;
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "script-src 'none'", "form-action 'self'"])
      expect(policy).toContain(part);
  };

  /** The command of the guide; its address is opened by the test. */
  const startCommand = async (): Promise<{ address: string; token: Promise<string>; child: ChildProcess }> => {
    const child = spawn(process.execPath, [join(repository, 'scripts/attestry.mjs'), 'sign-in', '--issuer', base], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let received = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const token = new Promise<string>((resolve, reject) =>
      child.once('exit', (code) => (code === 0 ? resolve(out.trim()) : reject(new Error(received)))),
    );
    token.catch(() => undefined as never);
    const address = await waitUntil(() => /^http\S+/m.exec(received)?.[0], { what: 'the address to open' });
    return { address, token, child };
  };

  it('leads from an invitation e-mail to a token for the management API', async () => {
    const tenantId = await makeTenant('walked');
    const email = 'ada@people.example';
    const link = await invite(tenantId, email);
    expect(link.startsWith(`${base}/invitation?token=`)).toBe(true);
    const context = await newContext();
    const page = await context.newPage();
    const shown = await page.goto(link);
    expect(shown!.status()).toBe(200);
    expectGuarded(shown);
    expect(await headingOf(page)).toBe('Join walked');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    await expectAccessible(page);

    // The error summary is first, and links to the field.
    await page.getByLabel('Choose a password').fill('short');
    await page.getByRole('button').click();
    expect(await page.title()).toMatch(/^Error: /);
    const summary = page.getByRole('alert');
    expect(await summary.getByRole('link').allInnerTexts()).toEqual([
      'Enter your name',
      'Choose a password of at least 12 characters',
    ]);
    expect(await page.getByLabel('Choose a password').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: join(process.env['SCREENSHOTS'], 'faults.png') });

    await page.getByLabel('Your name').fill('Ada <b>Lovelace</b>');
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button').click();
    expect(await headingOf(page)).toBe('You are now a member of walked');
    expect(await page.getByText('You are signed in as').innerText()).toContain('Ada <b>Lovelace</b>');
    await expectAccessible(page);
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: join(process.env['SCREENSHOTS'], 'member.png') });

    // Once.
    const again = await page.goto(link);
    expect([again!.status(), await headingOf(page)]).toEqual([410, 'This invitation has already been used']);

    // The session outlives the process.
    await platform.end();
    await platform.restart();
    await page.goto(`${base}/sign-in`);
    expect(await headingOf(page)).toBe('You are signed in');

    // With the session it is enough to agree; without it there is the password.
    const first = await startCommand();
    await page.goto(first.address);
    expect(await headingOf(page)).toBe('Continue?');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('You are signed in. Go back to the command line.').waitFor();
    const ada = new ManagementApi(platform.ready.management, await first.token);
    expect(expectStatus(await ada.user.retrieve(), 200)).toMatchObject({ email, name: 'Ada <b>Lovelace</b>' });
    expect(expectStatus(await ada.tenants.retrieve(tenantId), 200).membership).toEqual({ roles: ['admin'] });

    await page.goto(`${base}/sign-out`);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await headingOf(page)).toBe('You are signed out');
    const second = await startCommand();
    await page.goto(second.address);
    expect(await headingOf(page)).toBe('Sign in to continue to the Attestry command line');
    await expectAccessible(page);
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: join(process.env['SCREENSHOTS'], 'sign-in.png') });
    await page.getByLabel('E-mail address').fill('Ada@People.example');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You are signed in. Go back to the command line.').waitFor();
    const later = new ManagementApi(platform.ready.management, await second.token);
    expect(expectStatus(await later.user.retrieve(), 200)).toEqual(expectStatus(await ada.user.retrieve(), 200));

    // None of it is in the log, or in the folder in plain text.
    const log = platform.log();
    for (const text of [email, PASSWORD, 'Lovelace', new URL(link).searchParams.get('token')!])
      expect(log).not.toContain(text);
    await context.close();
  }, 120_000);

  it('revokes the token of a code that is used twice, and what it was exchanged for [T853]', async () => {
    const tenantId = await makeTenant('replayed');
    const email = 'replayed@people.example';
    const link = await invite(tenantId, email);
    const context = await newContext();
    await signUp(await context.newPage(), link, 'Replayed');
    /** A token and the request that it was issued for. */
    const obtain = async () => {
      const verifier = 'v'.repeat(43);
      const redirectUri = 'http://127.0.0.1:9/callback';
      const address = new URL(`${base}/auth`);
      address.search = new URLSearchParams({
        client_id: 'attestry-cli',
        response_type: 'code',
        scope: 'openid manage',
        redirect_uri: redirectUri,
        state: 's',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }).toString();
      // A separate page: the browser continues from the page of the response to an error.
      const page = await context.newPage();
      await page.goto(address.href);
      // There is no listener: only the address is needed.
      const answered = page.waitForRequest((request) => request.url().startsWith(redirectUri));
      await page.getByRole('button', { name: 'Continue' }).click();
      const code = new URL((await answered).url()).searchParams.get('code')!;
      const request = new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'attestry-cli',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      const use = (body: URLSearchParams) => hostFetch(`${base}/token`, { method: 'POST', body });
      const answer = await use(request);
      expect(answer.status).toBe(200);
      const { access_token: token } = (await answer.json()) as { access_token: string };
      return { user: new ManagementApi(platform.ready.management, token).user, token, request, use };
    };
    const [one, other] = [await obtain(), await obtain()];
    for (const { user } of [one, other]) expectStatus(await user.retrieve(), 200);
    const tenantUrl = platform.ready.management.replace('management.', 'replayed.');
    const exchange = (token: string) =>
      new ApiClient(platform.ready.auth).request<{ access_token: string }>('POST', '/oauth/token', {
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: token,
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          audience: tenantUrl,
        }),
      });
    const exchanged = new ApiClient(tenantUrl, expectStatus(await exchange(one.token), 200).access_token);
    expectStatus(await exchanged.request('GET', '/v1/dids'), 200);
    expect((await one.use(one.request)).status).toBe(400);
    expect((await one.user.retrieve()).status).toBe(401);
    expect((await exchanged.request('GET', '/v1/dids')).status).toBe(401);
    expect((await exchange(one.token)).body).toMatchObject({ error: 'invalid_request' });
    // A code that was stolen after its use is sent without the verifier.
    other.request.set('code_verifier', 'w'.repeat(43));
    expectStatus(await other.user.retrieve(), 200);
    expect((await other.use(other.request)).status).toBe(400);
    expect((await other.user.retrieve()).status).toBe(401);
    const third = await obtain();
    expectStatus(await third.user.retrieve(), 200);
    await context.close();
  }, 60_000);

  it('shows why a link is invalid: replaced, withdrawn, unknown', async () => {
    const tenantId = await makeTenant('dead-links');
    const email = 'grace@people.example';
    const old = await invite(tenantId, email);
    const { userId } = expectStatus(await owner.members.invite(tenantId, { email, roles: ['admin'] }), 200);
    await waitUntil(() => mail.to(email).length === 2, { what: 'the second e-mail' });
    const newer = linkIn(mail.to(email)[1]!.text!);
    const context = await newContext();
    const page = await context.newPage();
    const look = async (link: string) => [(await page.goto(link))!.status(), await headingOf(page)];
    expect(await look(old)).toEqual([410, 'This invitation was replaced']);
    await expectAccessible(page);
    expect(await look(newer)).toEqual([200, 'Join dead-links']);
    // Right in everything but the secret.
    expect(await look(`${newer.slice(0, -2)}xx`)).toEqual([404, 'This link is not valid']);
    expect(await look(`${old.slice(0, -2)}xx`)).toEqual([404, 'This link is not valid']);
    expect(await look(`${base}/invitation`)).toEqual([404, 'This link is not valid']);
    expect((await owner.members.delete(tenantId, userId)).status).toBe(204);
    expect(await look(newer)).toEqual([410, 'This invitation was withdrawn']);
    await context.close();
  }, 60_000);

  it('limits password guesses and does not reveal whether an account exists', async () => {
    const tenantId = await makeTenant('guessed');
    const context = await newContext();
    const page = await context.newPage();
    await signUp(page, await invite(tenantId, 'lin@people.example'), 'Lin');
    await context.clearCookies();
    const attempt = async (email: string, password: string) => {
      await page.goto(`${base}/sign-in`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button').click();
      return {
        status: (await answered).status(),
        text: await page.getByRole('main').innerText(),
        headers: await (await answered).allHeaders(),
      };
    };
    // Signs in like attempt, without a page.
    const guess = async (email: string, password: string) => {
      const { value } = (await context.cookies(base)).find(({ name }) => name === 'attestry_form')!;
      const form = await page.locator('input[name=form]').getAttribute('value');
      const body = new URLSearchParams({ form: form!, email, password });
      const headers = {
        cookie: `attestry_form=${value}`,
        'content-type': 'application/x-www-form-urlencoded',
      };
      expect((await hostFetch(`${base}/sign-in`, { method: 'POST', headers, body })).status).toBe(400);
    };
    const wrong = await attempt('lin@people.example', 'not the password');
    const unknown = await attempt('nobody@people.example', 'not the password');
    expect(wrong.status).toBe(400);
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(wrong.text).toContain('The e-mail address or the password is wrong');
    for (let n = 0; n < 9; n++) await guess('lin@people.example', `guess number ${n}`);
    const locked = await attempt('lin@people.example', PASSWORD);
    expect([locked.status, locked.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(locked.text).toMatch(/browsers that have not signed in to it before. Try again in (60|59) minutes./);
    await expectAccessible(page);
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: join(process.env['SCREENSHOTS'], 'locked.png') });
    // Budgets outlive the process.
    await platform.end();
    await platform.restart();
    expect((await attempt('nobody@people.example', 'not the password')).status).toBe(400);
    expect((await attempt('lin@people.example', PASSWORD)).status).toBe(429);

    // The owner of the mailbox makes this browser known to the account.
    const before = mail.to('lin@people.example').length;
    await page.getByRole('button', { name: 'Send a link' }).click();
    expect(await headingOf(page)).toBe('Check your e-mail');
    await expectAccessible(page);
    await waitUntil(() => mail.to('lin@people.example').length > before, { what: 'the link' });
    await page.goto(linkIn(mail.to('lin@people.example').at(-1)!.text!));
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use this browser' }).click();
    expect(await headingOf(page)).toBe('You can now sign in with this browser');
    await expectAccessible(page);
    const { httpOnly, sameSite, expires } = (await context.cookies(base)).find((it) => it.name === 'attestry_device')!;
    expect([httpOnly, sameSite, expires > Date.now() / 1000 + 300 * 86_400]).toEqual([true, 'Lax', true]);
    expect((await attempt('lin@people.example', PASSWORD)).text).toContain('You are signed in');
    await context.close();
  }, 120_000);

  it('accepts only forms of its own pages, and redirects only to registered addresses', async () => {
    const page = await hostFetch(`${base}/sign-in`);
    const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!;
    expect(page.headers.getSetCookie()[0]).toMatch(/; Path=\/people; HttpOnly; SameSite=Lax$/);
    const field = /name="form" value="([^"]+)"/.exec(await page.text())![1]!;
    const post = async (headers: Record<string, string>, fields: Record<string, string>, path = '/sign-in') =>
      (
        await hostFetch(`${base}${path}`, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams({ email: 'x@people.example', password: 'x', ...fields }),
        })
      ).status;
    expect(await post({ cookie }, { form: field })).toBe(400);
    expect(await post({ cookie, origin: 'null' }, { form: field })).toBe(400);
    expect(await post({}, { form: field })).toBe(403);
    expect(await post({ cookie }, {})).toBe(403);
    expect(await post({ cookie: 'attestry_form=x' }, { form: field })).toBe(403);
    expect(await post({ cookie: `attestry_form=${'x'.repeat(43)}` }, { form: field })).toBe(403);
    expect(await post({ cookie, origin: 'https://evil.example' }, { form: field })).toBe(403);
    expect(await post({ cookie, 'sec-fetch-site': 'cross-site' }, { form: field })).toBe(403);
    expect(await post({ cookie }, { form: field }, '/invitation')).toBe(404);
    expect(await post({ cookie, 'content-type': 'text/plain' }, { form: field })).toBe(415);
    expect(await post({ cookie }, { form: field, pad: 'x'.repeat(20_000) })).toBe(413);

    const ask = async (over: Record<string, string>) => {
      const query = new URLSearchParams({
        client_id: 'attestry-cli',
        response_type: 'code',
        scope: 'openid manage',
        redirect_uri: 'http://127.0.0.1:5555/callback',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
        ...over,
      });
      const answer = await hostFetch(`${base}/auth?${query}`, { redirect: 'manual' });
      return { status: answer.status, to: answer.headers.get('location') ?? '' };
    };
    expect((await ask({})).to).toMatch(new RegExp(`^${new URL(base).pathname}/sign-in/`));
    for (const redirect of [
      'https://evil.example/callback',
      'http://127.0.0.1:5555/else',
      'http://127.0.0.1@evil.example/callback',
    ])
      expect(await ask({ redirect_uri: redirect })).toEqual({ status: 400, to: '' });
    expect(new URL((await ask({ code_challenge: '', code_challenge_method: '' })).to).searchParams.get('error')).toBe(
      'invalid_request',
    );
    expect(new URL((await ask({ resource: 'https://else.example' })).to).searchParams.get('error')).toBe(
      'invalid_target',
    );
    for (const path of ['//evil.example', '/sign-in//evil.example', '/sign-in?return=https://evil.example'])
      expect((await hostFetch(`${base}${path}`, { redirect: 'manual' })).headers.get('location')).toBeNull();
    // On other hosts there is no such page.
    expect((await hostFetch(`${platform.ready.management}/people/sign-in`)).status).toBe(404);
  }, 60_000);

  it('works as the guide describes', async () => {
    // Without a mail server, as who starts with nothing.
    await platform.end();
    await platform.restart({ SMTP_URL: '' });
    const guide = readFileSync(join(repository, 'docs/guides/people.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
    const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', blocks.join('\n')], {
      cwd: repository,
      env: {
        PATH: process.env['PATH'] ?? '',
        BASE: platform.ready.management.replace('http://management.', ''),
        DATA_DIR: platform.dataDir,
        XDG_CONFIG_HOME: join(platform.dataDir, 'config'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that all its processes can be ended.
      detached: true,
    });
    let out = '';
    let received = '';
    let code: number | null | undefined;
    shell.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    shell.stderr.on('data', (chunk: Buffer) => (received += chunk.toString()));
    shell.once('close', (ended) => (code = ended));
    const said = async (text: () => string, pattern: RegExp, what: string): Promise<string> => {
      await waitUntil(() => code !== undefined || pattern.test(text()), { what, timeoutMs: 60_000 });
      if (!pattern.test(text())) throw new Error(`bash ended with ${code} before ${what}: ${out}${received}`);
      return pattern.exec(text())![0];
    };
    const context = await newContext();
    try {
      const page = await context.newPage();
      await signUp(page, await said(() => out, /^http\S+token=\S+$/m, 'the link'), 'Ada');
      expect(await headingOf(page)).toBe('You are now a member of Analytical Society');
      // Once for the token that is printed, once for the one that is kept.
      for (let seen = 0, n = 0; n < 2; n++) {
        const address = await said(() => received.slice(seen), /^http\S+client_id=\S+$/m, 'the address to open');
        seen = received.indexOf(address, seen) + address.length;
        await page.goto(address);
        await page.getByRole('button', { name: 'Continue' }).click();
      }
      await waitUntil(() => code !== undefined, { what: 'the end of the commands', timeoutMs: 60_000 });
      const tenantUrl = platform.ready.management.replace('management.', 'society.');
      const did = expect.stringMatching(/^did:key:/);
      expect([code, out.trim().split('\n').slice(-6), code === 0 ? '' : received]).toEqual([
        0,
        [
          'ada@example.org',
          'Analytical Society',
          expect.stringMatching(new RegExp(`^signed in for ${tenantUrl} until \\S+Z$`)),
          did,
          expect.stringMatching(/^[0-9a-f-]{36}$/),
          did,
        ],
        '',
      ]);
      const kept = join(platform.dataDir, 'config/attestry/sign-in.json');
      expect(statSync(kept).mode & 0o777).toBe(0o600);
    } finally {
      if (code === undefined) process.kill(-shell.pid!);
      await context.close();
    }
  }, 120_000);
});
