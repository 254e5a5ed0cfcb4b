import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acceptInvitation,
  admitUser,
  createTenant,
  deleteMembership,
  invalidBody,
  inviteMember,
  resendInvitation,
  type AppError,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { isErased } from '@attestry/keys';
import { MailReceiver, waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from './index.js';
import { tenantStream } from './tenants/tenant/tenant.state.js';

const START_MS = 120_000;
const clock = stoppedClock();
const service = new ServiceUnderTest(managementService, { settings: { BASE_DOMAIN: 'one.example' }, clock });
let environmentId: string;
let tenantId: string;
let mail: MailReceiver;
let counter = 0;

const start = (settings: Record<string, string>) => service.open({ settings });
const stop = () => service.close();
const unique = (stem: string) => `${stem}${(++counter).toString(36)}`;
const freshEmail = () => `${unique('guest-')}@people.example`;

beforeAll(async () => {
  mail = await MailReceiver.start();
  await start({ SMTP_URL: mail.url, MAIL_FROM: 'Attestry <hello@one.example>' });
  environmentId = service.config.environments[0]!.id;
  const body = { subdomain: 'mailing', name: 'Acme & <b>Sons</b>', environmentId };
  tenantId = (await service.client.call(createTenant, { body }, boss())).id;
}, START_MS);
afterAll(async () => {
  await service.remove();
  await mail.stop();
});

const { asManagement: context } = service;
const boss = () => context({ kind: 'management', clientId: 'boss' });
const invite = (email: string) =>
  service.client.call(inviteMember, { params: { tenantId }, body: { email, roles: ['issuer'] } }, boss());
const accept = async (link: URL) => {
  const body = { issuer: 'https://login.example', subject: unique('sub-') };
  const { userId } = await service.client.call(admitUser, { body }, boss());
  const token = link.searchParams.get('token')!;
  return service.client.call(acceptInvitation, { body: { token } }, context({ kind: 'user', userId }));
};
const sealedSecrets = async (): Promise<string[]> => {
  const events = await service.engines.events.readStream(tenantStream(tenantId), { from: 0, limit: 500 });
  return events.flatMap(({ type, data }) =>
    type === 'MemberInvited' ? [(data as { sealedSecret: string }).sealedSecret] : [],
  );
};

describe('the e-mail of an invitation', () => {
  it('is sent once, only to the invited person, and names its purpose [M19]', async () => {
    const email = freshEmail();
    await invite(email);
    const link = await mail.linkTo(email);
    expect(`${link.origin}${link.pathname}`).toBe('http://auth.one.example/people/invitation');
    const [sent, ...more] = mail.to(email);
    expect(more).toEqual([]);
    expect(sent).toMatchObject({
      recipients: [email],
      from: { address: 'hello@one.example', name: 'Attestry' },
      to: [{ address: email }],
      subject: 'Invitation to join Acme & <b>Sons</b>',
      messageId: expect.stringMatching(/^<[0-9a-f-]{36}@management\.one\.example>$/),
    });
    expect(sent!.html).toBeUndefined();
    expect(sent!.text).toContain('expires on 2026-03-06 at 10:00 UTC');
    expect(await accept(link)).toMatchObject({ tenantId, roles: ['issuer'] });
    await expect(accept(link)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('with a new link invalidates the previous link', async () => {
    const email = freshEmail();
    await invite(email);
    const first = await mail.linkTo(email);
    await invite(email);
    await waitUntil(() => mail.to(email).length === 2, { what: 'the second e-mail' });
    await expect(accept(first)).rejects.toMatchObject({ kind: 'invalid' });
    expect(await accept(await mail.linkTo(email))).toMatchObject({ tenantId });
  });

  it('leaves no secret behind once the mail server has accepted it', async () => {
    const email = freshEmail();
    await invite(email);
    await mail.linkTo(email);
    const sealed = (await sealedSecrets()).at(-1)!;
    await waitUntil(
      async () => isErased(await service.engines.vault.sealing.openSealed(tenantId, 'delivery', sealed)),
      {
        what: 'the key of the secret destroyed',
      },
    );
  });

  it('waits while the server closes connections, and is sent once the server accepts it', async () => {
    const email = freshEmail();
    mail.answer = 421;
    const refusals = mail.refused;
    await invite(email);
    await waitUntil(() => mail.refused > refusals + 1, { what: 'a second try' });
    expect(mail.to(email)).toEqual([]);
    expect(service.engines.health.report().ready).toBe(true);
    mail.answer = 250;
    await mail.linkTo(email);
  });

  it('that is deferred for its recipient is retried separately, and delays no other one', async () => {
    const deferred = freshEmail();
    mail.answers.set(deferred, 451);
    await invite(deferred);
    const refusals = mail.refused;
    for (let n = 0; n < 3; n++) {
      const other = freshEmail();
      await invite(other);
      await mail.linkTo(other);
    }
    expect(mail.refused - refusals).toBeLessThanOrEqual(1);
    const { refused } = mail;
    clock.time += 30_000;
    await waitUntil(() => mail.refused === refused + 1, { what: 'a second try' });
    expect(service.engines.health.report().ready).toBe(true);
    mail.answers.delete(deferred);
    await waitUntil(
      () => {
        clock.time += 10_000;
        return mail.to(deferred).length === 1;
      },
      { what: 'a third try' },
    );
    expect(await accept(await mail.linkTo(deferred))).toMatchObject({ tenantId });
    const sealed = (await sealedSecrets()).at(-4)!;
    await waitUntil(
      async () => isErased(await service.engines.vault.sealing.openSealed(tenantId, 'delivery', sealed)),
      {
        what: 'the key of the secret destroyed',
      },
    );
  });

  it('waits while the server refuses the sender, which the operator must correct', async () => {
    const email = freshEmail();
    mail.senderAnswer = 553;
    const refusals = mail.refused;
    await invite(email);
    await waitUntil(() => mail.refused > refusals + 1, { what: 'a second try' });
    mail.senderAnswer = 250;
    await mail.linkTo(email);
  });

  it('that is refused permanently delays no other one', async () => {
    const refused = freshEmail();
    mail.answer = 550;
    const refusals = mail.refused;
    await invite(refused);
    await waitUntil(() => mail.refused > refusals, { what: 'the refusal' });
    mail.answer = 250;
    const other = freshEmail();
    await invite(other);
    await mail.linkTo(other);
    expect(mail.to(refused)).toEqual([]);
    // Invited again, there is another try.
    await invite(refused);
    await mail.linkTo(refused);
  });

  it('is not sent for an invitation that was replaced or withdrawn before', async () => {
    const withdrawn = freshEmail();
    const replaced = freshEmail();
    for (const email of [withdrawn, replaced]) mail.answers.set(email, 451);
    const { userId } = await invite(withdrawn);
    await invite(replaced);
    await invite(replaced);
    await service.client.call(deleteMembership, { params: { tenantId, userId } }, boss());
    const last = freshEmail();
    await invite(last);
    await mail.linkTo(last);
    // The e-mails before have been tried.
    mail.answers.clear();
    clock.time += 30_000;
    await mail.linkTo(replaced);
    expect(mail.to(withdrawn)).toEqual([]);
    expect(mail.to(replaced)).toHaveLength(1);
  });

  it('contains the tenant name without characters that break lines or change the text direction', async () => {
    const body = { subdomain: 'hidden', name: 'Acme\u202e gro.live\u2066 \u200f\u061c\u2028Sons', environmentId };
    const { id } = await service.client.call(createTenant, { body }, boss());
    const email = freshEmail();
    await service.client.call(inviteMember, { params: { tenantId: id }, body: { email, roles: ['issuer'] } }, boss());
    await mail.linkTo(email);
    const [sent] = mail.to(email);
    expect(sent!.subject).toBe('Invitation to join Acme gro.live Sons');
    expect(sent!.text).toContain('a member of "Acme gro.live Sons"');
    expect(sent!.text).not.toMatch(/\p{Bidi_Control}/u);
  });

  it(
    'is sent once after a restart when the server was unavailable or deferred it',
    async () => {
      const email = freshEmail();
      const { refused } = mail;
      mail.answer = 451;
      await invite(email);
      await waitUntil(() => mail.refused > refused, { what: 'the first try' });
      await stop();
      mail.answer = 250;
      const before = mail.mails.length;
      await start({ SMTP_URL: mail.url });
      clock.time += 30_000;
      await mail.linkTo(email);
      const last = freshEmail();
      await invite(last);
      await mail.linkTo(last);
      expect(mail.mails.slice(before).map(({ recipients }) => recipients)).toEqual([[email], [last]]);
    },
    START_MS,
  );

  it(
    'is a file that only the owner of the data folder can read, without a mail server',
    async () => {
      await stop();
      await start({});
      const email = freshEmail();
      await invite(email);
      const folder = join(service.folder, 'mail');
      const name = await waitUntil(async () => (await readdir(folder)).find((it) => it.endsWith('.eml')), {
        what: 'an e-mail in the folder',
      });
      const text = await readFile(join(folder, name), 'utf8');
      expect(text).toMatch(new RegExp(`^To: ${email}\\r$`, 'm'));
      expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
      expect((await stat(folder)).mode & 0o077).toBe(0);
    },
    START_MS,
  );
});

describe('the number of e-mails', () => {
  const HOUR = 3_600_000;
  const invitedOf = async (id: string) => {
    const events = await service.engines.events.readStream(tenantStream(id), { from: 0, limit: 500 });
    return events.filter(({ type }) => type === 'MemberInvited');
  };
  const inviteTo = (id: string, email: string) =>
    service.client.call(inviteMember, { params: { tenantId: id }, body: { email, roles: ['issuer'] } }, boss());
  const newTenant = async () => {
    const body = { subdomain: unique('limited-'), environmentId };
    return (await service.client.call(createTenant, { body }, boss())).id;
  };
  const refusalOf = async (call: Promise<unknown>): Promise<AppError> => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason as AppError,
    );
    if (!error) throw new Error('not refused');
    return error;
  };

  beforeAll(async () => {
    await stop();
    await start({ SMTP_URL: mail.url });
  }, START_MS);

  it('is limited to five per mailbox and hour, over all spellings and tenants; a refused call changes nothing', async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const name = unique('bombed-');
    const { userId } = await inviteTo(one, `${name}@people.example`);
    const resends = await Promise.allSettled(
      Array.from({ length: 60 }, () =>
        service.client.call(resendInvitation, { params: { tenantId: one, userId } }, boss()),
      ),
    );
    expect(resends.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const refused = resends.flatMap((it) => (it.status === 'rejected' ? [it.reason as AppError] : []));
    for (const { kind, code, headers } of refused)
      expect([kind, code, headers]).toEqual(['tooManyRequests', 'TooManyRequests', { 'retry-after': '3600' }]);
    expect(await invitedOf(one)).toHaveLength(5);
    for (const email of [`${name}@people.example`, `${name}+two@people.example`, `${name}@PEOPLE.example`])
      expect(await refusalOf(inviteTo(other, email))).toMatchObject({ kind: 'tooManyRequests' });
    expect(await invitedOf(other)).toEqual([]);
    // The link that was sent last is still valid.
    await waitUntil(() => mail.to(`${name}@people.example`).length > 0, { what: 'an e-mail' });
    const last = (await invitedOf(one)).at(-1)!.data as { invitationId: string };
    const latest = () =>
      mail.to(`${name}@people.example`).find(({ messageId }) => messageId!.includes(last.invitationId))?.text;
    const text = await waitUntil(latest, { what: 'the latest e-mail' });
    expect(await accept(new URL(/http\S+/.exec(text)![0]))).toMatchObject({ tenantId: one });
    expect(mail.to(`${name}@people.example`).length).toBeLessThanOrEqual(5);
  });

  it('does not include an invitation that is refused after it was counted', async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const email = freshEmail();
    const streams = service.get(Streams);
    const before = streams.runDecision.bind(streams) as (...given: unknown[]) => Promise<unknown>;
    const runDecision = (...given: unknown[]) =>
      given[1] === tenantStream(one) ? Promise.reject(invalidBody('email', 'is already a member')) : before(...given);
    Object.assign(streams, { runDecision });
    try {
      for (let n = 0; n < 6; n++) expect(await refusalOf(inviteTo(one, email))).toMatchObject({ kind: 'invalid' });
    } finally {
      Object.assign(streams, { runDecision: before });
    }
    for (let n = 0; n < 5; n++) await inviteTo(other, email);
    expect(await refusalOf(inviteTo(other, email))).toMatchObject({ kind: 'tooManyRequests' });
  });

  it('cannot be exceeded with quoted local parts, which are refused', async () => {
    const tenant = await newTenant();
    for (const email of ['"victim"@mail.example', '"v\\ictim"@mail.example', '"vic tim"@mail.example'])
      expect(await refusalOf(inviteTo(tenant, email))).toMatchObject({
        kind: 'invalid',
        details: [expect.objectContaining({ param: 'email', msg: 'must be an e-mail address' })],
      });
    expect(await invitedOf(tenant)).toEqual([]);
  });

  it(
    'is kept over a restart, and reset after an hour',
    async () => {
      const [one, other] = [await newTenant(), await newTenant()];
      const email = freshEmail();
      for (let n = 0; n < 5; n++) {
        await inviteTo(one, email);
        clock.time += 60_000;
      }
      await stop();
      await start({ SMTP_URL: mail.url });
      const refused = await refusalOf(inviteTo(other, email));
      expect(refused.headers).toEqual({ 'retry-after': String(55 * 60) });
      clock.time += 55 * 60_000;
      await inviteTo(other, email);
      expect(await refusalOf(inviteTo(other, email))).toMatchObject({ headers: { 'retry-after': '60' } });
      clock.time -= HOUR;
    },
    START_MS,
  );

  it(
    'is limited to two hundred per tenant and hour; calls refused by it do not count for the mailbox',
    async () => {
      const tenant = await newTenant();
      const emails = Array.from({ length: 200 }, freshEmail);
      for (let from = 0; from < 200; from += 20)
        await Promise.all(emails.slice(from, from + 20).map((email) => inviteTo(tenant, email)));
      const email = freshEmail();
      for (let n = 0; n < 6; n++)
        expect(await refusalOf(inviteTo(tenant, email))).toMatchObject({
          message: 'A tenant can send at most 200 invitations an hour',
          headers: { 'retry-after': '3600' },
        });
      const other = await newTenant();
      for (let n = 0; n < 5; n++) await inviteTo(other, email);
      // A mailbox at its limit does not count for the tenant either.
      for (let n = 0; n < 200; n++) await refusalOf(inviteTo(other, email));
      await inviteTo(other, freshEmail());
    },
    START_MS,
  );
});
