import { createServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admitUser, AppError, createTenant, inviteMember, unavailable, type Operation } from '@attestry/contracts';
import { SignInRegistry, type PersonOfIssuer, type ProcessEngines } from '@attestry/service-kit';
import { hostFetch, MailReceiver, waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from '../../index.js';
import { Accounts, isTaken } from './accounts.js';
import { DeviceCookies } from './device-cookies.js';
import { storedRecords } from './stored-records.js';
import { Passwords } from './passwords.js';

const START_MS = 120_000;
const PASSWORD = 'a long enough password';
const HOUR = 3_600_000;
const clock = stoppedClock(new Date().toISOString());
const service = new ServiceUnderTest(managementService, { clock });

let mail: MailReceiver;
let server: Server;
let base: string;
let tenantId: string;
let address = '192.0.2.1';

const { asManagement: context } = service;
const boss = () => context({ kind: 'management', clientId: 'boss' });
/** The gateway calls management in this way. */
const call = async (person: PersonOfIssuer, operation: Operation, body: object) => {
  const gateway = boss();
  const { userId } = await service.client.call(admitUser, { body: person }, gateway);
  return service.client.call(operation, { body }, context({ kind: 'user', userId }));
};

beforeAll(async () => {
  mail = await MailReceiver.start();
  server = createServer((request, response) => {
    const { signIn } = service.get(SignInRegistry);
    const from = request.headers['x-test-address'];
    const visit = { requestId: 'request', address: typeof from === 'string' ? from : address, call };
    void signIn!.handle(request, response, visit);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await service.open({ settings: { BASE_DOMAIN: `localhost:${port}`, SMTP_URL: mail.url } });
  const { config } = service;
  base = config.signInIssuer;
  const body = { subdomain: 'acme', name: 'Acme & <i>Sons</i>', environmentId: config.environments[0]!.id };
  tenantId = (await service.client.call(createTenant, { body }, boss())).id;
}, START_MS);
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await service.remove();
  await mail.stop();
});

/** A browser without anything but cookies and forms. */
class Visitor {
  private readonly cookies = new Map<string, string>();
  private text = '';

  /** @param from address that the gateway counts; absent: {@link address} */
  constructor(private readonly from?: string) {}

  async get(url: string): Promise<{ status: number; text: string }> {
    return this.send(url);
  }

  /** The form of the page that was shown last. */
  async submit(fields: Record<string, string>): Promise<{ status: number; text: string; retryAfter: string | null }> {
    const action = /<form method="post" action="([^"]+)"/.exec(this.text)![1]!;
    const hidden = [...this.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!] as const,
    );
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    return this.send(new URL(action, base).href, { method: 'POST', body });
  }

  /** The form of the last page that posts to this path. */
  async submitTo(path: string, fields: Record<string, string>) {
    const start = this.text.indexOf(`action="${new URL(base).pathname}${path}"`);
    this.text = `<form method="post" ${this.text.slice(start)}`;
    return this.submit(fields);
  }

  private async send(url: string, init: RequestInit = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await hostFetch(url, {
      redirect: 'manual',
      ...init,
      headers: {
        cookie,
        ...(this.from !== undefined && { 'x-test-address': this.from }),
        ...(init.body ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(';') as [string];
      this.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    this.text = await answer.text();
    return { status: answer.status, text: this.text, retryAfter: answer.headers.get('retry-after') };
  }
}

const invite = async (email: string): Promise<string> => {
  await service.client.call(inviteMember, { params: { tenantId }, body: { email, roles: ['issuer'] } }, boss());
  return (await mail.linkTo(email)).href;
};
const signUp = async (email: string, name = 'Somebody'): Promise<Visitor> => {
  const visitor = new Visitor();
  await visitor.get(await invite(email));
  const joined = await visitor.submit({ name, password: PASSWORD, action: 'sign-up' });
  expect([joined.status, joined.text.includes('You have accepted the invitation')]).toEqual([200, true]);
  return visitor;
};
const signIn = async (email: string, password: string, from?: string) => {
  const visitor = new Visitor(from);
  await visitor.get(`${base}/sign-in`);
  return visitor.submit({ email, password });
};

describe('an account', () => {
  it('is unique for an address, also with concurrent calls, and not stored in plain text', async () => {
    const accounts = service.get(Accounts);
    const given = { email: 'Twice@people.example', name: 'Twice Over', password: PASSWORD };
    const opened = await Promise.allSettled([
      accounts.createAccount(given, 'r1', 'caller'),
      accounts.createAccount(given, 'r2', 'caller'),
    ]);
    const [refused] = opened.flatMap((it) => (it.status === 'rejected' ? [it.reason as unknown] : []));
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(isTaken(refused)).toBe(true);
    const holder = await accounts.verifyPassword('twice@PEOPLE.example ', PASSWORD, 'caller');
    expect(holder).toMatchObject({ email: 'twice@people.example', name: 'Twice Over' });
    expect(await accounts.byId(holder!.accountId)).toEqual(holder);
    expect(await accounts.verifyPassword('twice@people.example', `${PASSWORD}!`, 'caller')).toBeUndefined();
    const [stored] = await service.engines.events.readStream(`account-${holder!.accountId}`);
    expect(JSON.stringify(stored)).not.toMatch(/people\.example|Twice Over|argon2/);
    expect(stored!.metadata).toMatchObject({ tenantId: 'platform', actor: 'service:management' });
    await service.engines.vault.sealing.destroyDataKeys('platform', [holder!.accountId]);
    expect(await accounts.verifyPassword('twice@people.example', PASSWORD, 'caller')).toBeUndefined();
    expect(await accounts.byId(holder!.accountId)).toBeUndefined();
  });
});

describe('the page of an invitation', () => {
  it('creates an account that is signed in, with the name as entered', async () => {
    const visitor = await signUp('one@people.example', '<script>alert(1)</script>');
    const { text } = await visitor.get(`${base}/sign-in`);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toContain('<script');
  });

  it('shows after five days that the link has expired', async () => {
    const link = await invite('late@people.example');
    const shown = new Visitor();
    expect((await shown.get(link)).text).toContain('Join Acme &amp; &lt;i&gt;Sons&lt;/i&gt;');
    const before = clock.time;
    clock.time += 5 * 24 * HOUR;
    const { status, text } = await new Visitor().get(link);
    expect([status, text.includes('This invitation has expired')]).toEqual([410, true]);
    // A user who already had the form open gets the same answer.
    expect((await shown.submit({ name: 'Late', password: PASSWORD, action: 'sign-up' })).status).toBe(410);
    expect(await service.get(Accounts).exists('late@people.example')).toBe(false);
    clock.time = before;
  });

  it('lets a signed-in user accept once, with the existing account', async () => {
    const visitor = await signUp('two@people.example', 'Two');
    const link = await invite('two+alias@people.example');
    expect((await visitor.get(link)).text).toContain('Accept as two+alias@people.example instead');
    // A member already: the invitation stays valid for another person.
    const refused = await visitor.submit({ action: 'accept' });
    expect([refused.status, refused.text.includes('You cannot accept this invitation')]).toEqual([409, true]);
    await visitor.get(`${link}&as=invited`);
    expect((await visitor.submit({ name: 'Alias', password: PASSWORD, action: 'sign-up' })).status).toBe(200);
    expect((await visitor.get(`${base}/sign-in`)).text).toContain('two+alias@people.example');
    expect((await visitor.get(link)).status).toBe(410);
  });

  it('signs in a person with an account by the password', async () => {
    const accounts = service.get(Accounts);
    await accounts.createAccount({ email: 'three@people.example', name: 'Three', password: PASSWORD }, 'r', 'caller');
    const visitor = new Visitor();
    expect((await visitor.get(await invite('three@people.example'))).text).toContain('Sign in and accept');
    expect((await visitor.submit({ password: 'not the password', action: 'sign-in' })).status).toBe(400);
    // The form of a new browser does not create another one either.
    expect((await visitor.submit({ name: 'x', password: `${PASSWORD}2`, action: 'sign-up' })).status).toBe(400);
    expect((await visitor.submit({ password: PASSWORD, action: 'sign-in' })).text).toContain('You are now a member of');
  });
});

describe('a session', () => {
  it('ends after eight hours, and is not stored in plain text', async () => {
    const visitor = await signUp('four@people.example');
    expect((await visitor.get(`${base}/sign-in`)).text).toContain('You are signed in');
    const session = (visitor as unknown as { cookies: Map<string, string> }).cookies.get('attestry_session')!;
    for (const name of ['sign-in.db', 'sign-in.db-wal']) {
      const bytes = await readFile(join(service.folder, name), 'latin1');
      expect(bytes).not.toContain(session);
      expect(bytes).not.toContain('accountId');
    }
    clock.time += 8 * HOUR;
    expect((await visitor.get(`${base}/sign-in`)).text).toContain('<h1>Sign in</h1>');
    clock.time -= 8 * HOUR;
  });

  it('is not found with a forged or truncated cookie', async () => {
    const visitor = await signUp('five@people.example');
    const { cookies } = visitor as unknown as { cookies: Map<string, string> };
    cookies.set('attestry_session.sig', 'x'.repeat(27));
    expect((await visitor.get(`${base}/sign-in`)).text).toContain('<h1>Sign in</h1>');
  });
});

describe('the stored state of the provider', () => {
  it('is consumed by one of two concurrent calls, found until it expires, and removed with its grant', async () => {
    const adapterOf = await storedRecords(
      (service.engines as ProcessEngines).signIn!.records,
      service.engines.vault.sealing,
      () => clock.time,
    );
    const codes = adapterOf('AuthorizationCode');
    const payload = { grantId: 'g1', accountId: 'a1', kind: 'AuthorizationCode' };
    await codes.upsert('code-1', payload, 60);
    await codes.upsert('code-2', payload, 60);
    expect(await codes.find('code-1')).toEqual(payload);
    const consumed = await Promise.allSettled([codes.consume('code-1'), codes.consume('code-1')]);
    const reasons = consumed.flatMap((it) => (it.status === 'rejected' ? [it.reason as Error] : []));
    expect(reasons).toEqual([expect.objectContaining({ name: 'InvalidGrant' })]);
    expect(await codes.find('code-1')).toEqual({ ...payload, consumed: Math.floor(clock.time / 1000) });
    await codes.revokeByGrantId('g1');
    expect(await codes.find('code-1')).toBeUndefined();
    expect(await codes.find('code-2')).toBeUndefined();
    const sessions = adapterOf('Session');
    await sessions.upsert('s1', { uid: 'u1', accountId: 'a1' }, 60);
    expect(await sessions.findByUid('u1')).toEqual({ uid: 'u1', accountId: 'a1' });
    clock.time += 60_000;
    expect(await sessions.findByUid('u1')).toBeUndefined();
    clock.time -= 60_000;
  });
});

describe('a second use of a code', () => {
  const builtIn = () => service.get(SignInRegistry).signIn!;
  const usedCode = async (grantId: string) => {
    const adapterOf = await storedRecords(
      (service.engines as ProcessEngines).signIn!.records,
      service.engines.vault.sealing,
      () => clock.time,
    );
    const codes = adapterOf('AuthorizationCode');
    await adapterOf('Grant').upsert(grantId, { accountId: 'a1' }, 3600);
    await codes.upsert(`code of ${grantId}`, { grantId, accountId: 'a1', kind: 'AuthorizationCode' }, 60);
    return { codes, grants: adapterOf('Grant'), id: `code of ${grantId}` };
  };

  it('ends the grant, whatever else the call contains', async () => {
    const { codes, grants, id } = await usedCode('grant-1');
    await codes.find(id);
    await codes.consume(id);
    expect(await builtIn().hasEnded('grant-1')).toBe(false);
    await codes.find(id);
    expect(await builtIn().hasEnded('grant-1')).toBe(true);
    expect(await grants.find('grant-1')).toBeUndefined();
    expect(await builtIn().hasEnded('grant-2')).toBe(false);
  });

  it('ends the grant also when both uses are concurrent', async () => {
    const { codes, id } = await usedCode('grant-3');
    await Promise.allSettled([codes.consume(id), codes.consume(id)]);
    expect(await builtIn().hasEnded('grant-3')).toBe(true);
  });

  it('ends the grant while a token of the code can be valid, and its record is deleted afterwards', async () => {
    const { codes, id } = await usedCode('grant-4');
    await codes.consume(id);
    clock.time += HOUR;
    expect(await codes.find(id)).toBeDefined();
    expect(await builtIn().hasEnded('grant-4')).toBe(true);
    // A verifier tolerates clocks that differ.
    clock.time += HOUR + 10_000;
    expect(await builtIn().hasEnded('grant-4')).toBe(true);
    clock.time += 60_000;
    expect(await builtIn().hasEnded('grant-4')).toBe(false);
    clock.time -= 2 * HOUR + 70_000;
  });
});

const DEVICE = 'attestry_device';
const cookiesOf = (visitor: Visitor) => (visitor as unknown as { cookies: Map<string, string> }).cookies;
/** Keeps what makes the browser known to the account, and nothing else. */
const signedOut = (visitor: Visitor): Visitor => {
  const cookies = cookiesOf(visitor);
  for (const name of [...cookies.keys()]) if (name !== DEVICE) cookies.delete(name);
  return visitor;
};
const signInWith = async (visitor: Visitor, email: string, password: string) => {
  await visitor.get(`${base}/sign-in`);
  return visitor.submit({ email, password });
};
/** Failures in browsers that the account does not know, five from each address. */
const failUnknown = async (email: string, times: number) => {
  const before = address;
  const statuses: number[] = [];
  for (let n = 0; n < times; n++) {
    address = `198.51.100.${(n % 200) + 1}`;
    statuses.push((await signIn(email, `guess ${n}`)).status);
  }
  address = before;
  return statuses;
};

describe('failed sign-ins in browsers unknown to the account', () => {
  it("are limited to ten an hour together, and do not affect the owner's browser", async () => {
    const owner = await signUp('six@people.example');
    expect(await failUnknown('six@people.example', 10)).toEqual(Array(10).fill(400));
    const locked = await signIn('SIX@people.example', PASSWORD);
    expect([locked.status, locked.retryAfter]).toEqual([429, '3600']);
    expect(locked.text).toContain('Too many failed attempts for this account');
    expect((await signInWith(signedOut(owner), 'six@people.example', PASSWORD)).status).toBe(200);
    // Its success does not reset the failures of others either.
    expect((await signIn('six@people.example', 'guess')).status).toBe(429);
    clock.time += HOUR;
    expect((await signIn('six@people.example', PASSWORD)).status).toBe(200);
    // Correct passwords are not counted, however many.
    for (let n = 0; n < 12; n++) expect((await signIn('six@people.example', PASSWORD)).status).toBe(200);
    clock.time -= HOUR;
  });

  it('are not reset by a correct password in between', async () => {
    await signUp('eight@people.example');
    await failUnknown('eight@people.example', 9);
    expect((await signIn('eight@people.example', PASSWORD)).status).toBe(200);
    expect(await failUnknown('eight@people.example', 2)).toEqual([400, 429]);
  });

  it('are counted before the password is verified, so that the limit holds for concurrent attempts', async () => {
    await signUp('nine@people.example');
    const from = (n: number) => `198.51.100.${n + 1}`;
    const statuses = await Promise.all(
      Array.from({ length: 15 }, (_, n) => signIn('nine@people.example', 'guess', from(n))),
    );
    expect(statuses.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(5);
  });

  it('look the same for an account that does not exist', async () => {
    await signUp('ten@people.example');
    const answers = async (email: string) => {
      const texts = [await signIn(email, 'guess')];
      await failUnknown(email, 9);
      texts.push(await signIn(email, 'guess'));
      return texts.map(({ status, text, retryAfter }) => ({
        status,
        retryAfter,
        text: text.replaceAll(email, '').replace(/name="form" value="[^"]*"/g, ''),
      }));
    };
    const existing = await answers('ten@people.example');
    expect(existing.map(({ status }) => status)).toEqual([400, 429]);
    expect(await answers('none@people.example')).toEqual(existing);
  });

  it('are limited to fifty an hour from one address over all accounts, and refused before they count against an account', async () => {
    const owner = await signUp('seven@people.example');
    address = '192.0.2.77';
    for (let n = 0; n < 50; n++) expect((await signIn(`n${n}@people.example`, 'guess')).status).toBe(400);
    for (let n = 0; n < 12; n++) {
      const refused = await signIn('seven@people.example', 'guess');
      expect([refused.status, refused.text.includes('from your network')]).toEqual([429, true]);
    }
    // A browser known to the account is not locked out by others behind its address.
    expect((await signInWith(signedOut(owner), 'seven@people.example', PASSWORD)).status).toBe(200);
    address = '192.0.2.78';
    expect((await signIn('seven@people.example', PASSWORD)).status).toBe(200);
  }, 60_000);
});

describe('a browser known to the account', () => {
  it('has its own limit of ten failures an hour', async () => {
    const owner = signedOut(await signUp('eleven@people.example'));
    for (let n = 0; n < 10; n++)
      expect((await signInWith(owner, 'eleven@people.example', `guess ${n}`)).status).toBe(400);
    const locked = await signInWith(owner, 'eleven@people.example', PASSWORD);
    expect([locked.status, locked.retryAfter, locked.text.includes('in this browser')]).toEqual([429, '3600', true]);
    expect((await signIn('eleven@people.example', PASSWORD)).status).toBe(200);
  });

  it('is known only to the accounts it signed in to, by a cookie that is not a session', async () => {
    const owner = signedOut(await signUp('twelve@people.example'));
    const cookie = cookiesOf(owner).get(DEVICE)!;
    expect(cookie).not.toContain('twelve');
    expect((await owner.get(`${base}/sign-in`)).text).toContain('<h1>Sign in</h1>');
    await signUp('thirteen@people.example');
    await failUnknown('thirteen@people.example', 10);
    expect((await signInWith(owner, 'thirteen@people.example', PASSWORD)).status).toBe(429);
    // Made up, cut, or of another time.
    await failUnknown('twelve@people.example', 10);
    const [id, issued, pepper, mac] = cookie.split('.');
    for (const forged of [
      [id, Number(issued) + 1, pepper, mac].join('.'),
      [id!.split('').reverse().join(''), issued, pepper, mac].join('.'),
      [id, issued, pepper, 'A'.repeat(43)].join('.'),
      cookie.slice(0, -1),
    ]) {
      cookiesOf(owner).set(DEVICE, forged);
      expect((await signInWith(owner, 'twelve@people.example', PASSWORD)).status).toBe(429);
    }
    cookiesOf(owner).set(DEVICE, cookie);
    expect((await signInWith(owner, 'twelve@people.example', PASSWORD)).status).toBe(200);
    // Each of several accounts of one browser is known.
    clock.time += HOUR;
    expect((await signInWith(signedOut(owner), 'thirteen@people.example', PASSWORD)).status).toBe(200);
    await failUnknown('twelve@people.example', 10);
    await failUnknown('thirteen@people.example', 10);
    for (const email of ['twelve@people.example', 'thirteen@people.example'])
      expect((await signInWith(signedOut(owner), email, PASSWORD)).status).toBe(200);
    clock.time += 365 * 24 * HOUR;
    await failUnknown('twelve@people.example', 10);
    expect((await signInWith(signedOut(owner), 'twelve@people.example', PASSWORD)).status).toBe(429);
    clock.time -= 366 * 24 * HOUR - 23 * HOUR;
  }, 60_000);

  it('has a cookie that scripts cannot read and, behind https, other hosts of the domain cannot set', () => {
    const devices = service.get(DeviceCookies);
    const lines: string[] = [];
    const response = { appendHeader: (_name: string, line: string) => lines.push(line) } as never;
    for (const isSecure of [true, false]) devices.addDevice({ headers: {} } as never, response, 'account', isSecure);
    const value = '[\\w-]{22}\\.\\d+\\.\\w+\\.[\\w-]{43}';
    expect(lines[0]).toMatch(
      new RegExp(`^__Host-attestry_device=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=31536000$`),
    );
    expect(lines[1]).toMatch(
      new RegExp(`^attestry_device=${value}; Path=/people; HttpOnly; SameSite=Lax; Max-Age=31536000$`),
    );
    const request = { headers: { cookie: lines[0]!.split(';')[0] } } as never;
    expect(devices.deviceOf(request, 'account', true)).toBeDefined();
    expect(devices.deviceOf(request, 'account', false)).toBeUndefined();
    expect(devices.deviceOf(request, 'other', true)).toBeUndefined();
  });

  it('becomes known with a link sent to the mailbox, once', async () => {
    const email = 'fourteen@people.example';
    await signUp(email);
    await failUnknown(email, 10);
    const traveler = new Visitor();
    const locked = await signInWith(traveler, email, PASSWORD);
    expect([locked.status, locked.text.includes('Is this your account?')]).toEqual([429, true]);
    const before = mail.to(email).length;
    const page = await traveler.submitTo('/browser', {});
    expect([page.status, page.text.includes('Check your e-mail')]).toEqual([200, true]);
    await waitUntil(() => mail.to(email).length > before, { what: 'the link' });
    const link = /http\S+/.exec(mail.to(email).at(-1)!.text!)![0];
    const twice = new Visitor();
    // Opening a link changes nothing.
    for (const visitor of [traveler, twice, new Visitor()]) expect((await visitor.get(link)).status).toBe(200);
    expect((await signInWith(new Visitor(), email, PASSWORD)).status).toBe(429);
    expect((await traveler.get(link)).status).toBe(200);
    expect((await traveler.submit({ action: 'use' })).text).toContain('You can now sign in with this browser');
    expect((await twice.submit({ action: 'use' })).status).toBe(410);
    expect((await signInWith(traveler, email, PASSWORD)).status).toBe(200);
    expect((await signInWith(twice, email, PASSWORD)).status).toBe(429);
    // Three links an hour; an account that does not exist is answered in the same way.
    const answers = async (address: string) => {
      await failUnknown(address, 10);
      const statuses: number[] = [];
      for (let n = 0; n < 4; n++) {
        const visitor = new Visitor();
        await signInWith(visitor, address, 'guess');
        statuses.push((await visitor.submitTo('/browser', {})).status);
      }
      return statuses;
    };
    expect(await answers('nobody-at-all@people.example')).toEqual([200, 200, 200, 429]);
    expect(mail.to('nobody-at-all@people.example')).toEqual([]);
  }, 60_000);
});

describe('links that a third party has requested', () => {
  it('work for the owner while the budgets are used up', async () => {
    const email = 'seventeen@people.example';
    await signUp(email);
    await failUnknown(email, 10);
    const before = mail.to(email).length;
    const attacker = new Visitor('192.0.2.91');
    for (let n = 0; n < 3; n++) {
      await signInWith(attacker, email, 'guess');
      expect((await attacker.submitTo('/browser', {})).status).toBe(200);
    }
    await waitUntil(() => mail.to(email).length === before + 3, { what: 'the links' });
    const link = /http\S+/.exec(mail.to(email).at(-1)!.text!)![0];
    clock.time += HOUR - 60_000;
    const owner = new Visitor();
    const locked = await signInWith(owner, email, PASSWORD);
    expect(locked.status).toBe(429);
    expect((await owner.submitTo('/browser', {})).status).toBe(429);
    expect((await owner.get(link)).status).toBe(200);
    expect((await owner.submit({ action: 'use' })).text).toContain('You can now sign in with this browser');
    expect((await signInWith(owner, email, PASSWORD)).status).toBe(200);
    clock.time += 60_000;
    expect((await new Visitor().get(link)).status).toBe(410);
    clock.time -= HOUR;
  }, 60_000);
});

describe('a password that is not verified because of too many concurrent sign-ins', () => {
  it('is not counted by any budget', async () => {
    const email = 'sixteen@people.example';
    const owner = signedOut(await signUp(email));
    const passwords = service.get(Passwords);
    const callers: string[] = [];
    const refuse = (error: AppError) => {
      passwords.verify = (_password, _stored, caller) => {
        callers.push(caller);
        return Promise.reject(error);
      };
    };
    const statuses: number[] = [];
    try {
      refuse(unavailable('Too many concurrent sign-ins'));
      for (let n = 0; n < 12; n++) {
        statuses.push((await signInWith(owner, email, PASSWORD)).status);
        statuses.push((await signIn(email, PASSWORD, '192.0.2.90')).status);
      }
      expect(statuses).toEqual(Array(24).fill(503));
      refuse(new AppError('tooManyRequests', 'Too many sign-ins at once', { headers: { 'retry-after': '1' } }));
      const refused = await signIn(email, PASSWORD, '192.0.2.90');
      expect([refused.status, refused.retryAfter]).toEqual([429, '1']);
    } finally {
      passwords.verify = Passwords.prototype.verify;
    }
    // The known browser does not share a bound with its neighbors.
    expect(new Set(callers).size).toBe(2);
    expect(callers).toContain('address 192.0.2.90');
    for (const _ of Array(9)) expect((await signInWith(owner, email, 'guess')).status).toBe(400);
    expect((await signInWith(owner, email, PASSWORD)).status).toBe(200);
    expect((await signIn(email, PASSWORD, '192.0.2.90')).status).toBe(200);
  }, 60_000);
});

describe('a chosen password', () => {
  it('is refused with the reason and the allowed values', async () => {
    const visitor = new Visitor();
    await visitor.get(await invite('fifteen@people.example'));
    for (const [password, reason] of [
      ['1Q2W3E4R5T6Y', 'not a common one'],
      ['abababababab', 'at least 5 different characters'],
      ['fifteen is my name', 'does not contain your e-mail address or a part of it'],
    ] as const) {
      const refused = await visitor.submit({ name: 'Fifteen', password, action: 'sign-up' });
      expect([refused.status, refused.text.includes(reason)]).toEqual([400, true]);
    }
    expect(await service.get(Accounts).exists('fifteen@people.example')).toBe(false);
  });
});
