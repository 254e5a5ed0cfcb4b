import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  acceptInvitation,
  admitUser,
  createTenant,
  deleteMembership,
  inviteMember,
  type Caller,
  type OperationContext,
} from '@attestry/contracts';
import { isErased } from '@attestry/keys';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { chosenEngines, MailReceiver, TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { managementService } from './index.js';
import { tenantStream } from './tenant/tenant.state.js';

const START_MS = 120_000;
const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };

let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
let environmentId: string;
let tenantId: string;
let mail: MailReceiver;
let counter = 0;

const start = async (env: Record<string, string>): Promise<void> => {
  const base = { ...TEST_SETTINGS, DATA_DIR: dataDir, BASE_DOMAIN: 'one.example' };
  const config = parseConfig({ ...base, ...env });
  environmentId = config.environments[0]!.id;
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([managementService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
};
const stop = async (): Promise<void> => {
  await services.close();
  await engines.close();
};
const unique = (stem: string) => `${stem}${(++counter).toString(36)}`;
const freshEmail = () => `${unique('guest-')}@people.example`;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'invitations-'));
  mail = await MailReceiver.start();
  await start({ SMTP_URL: mail.url, MAIL_FROM: 'Attestry <hello@one.example>' });
  const body = { subdomain: 'mailing', name: 'Acme & <b>Sons</b>', environmentId };
  tenantId = (await client.call(createTenant, { body }, boss())).id;
}, START_MS);
afterAll(async () => {
  await stop();
  await mail.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const context = (caller: Caller): OperationContext => ({
  caller,
  requestId: 'request',
  operation: 'test',
  deadline: Date.now() + 20_000,
  publicUrl: 'http://management.one.example',
});
const boss = () => context({ kind: 'management', clientId: 'boss' });
const invite = (email: string) =>
  client.call(inviteMember, { params: { tenantId }, body: { email, roles: ['issuer'] } }, boss());
const accept = async (link: URL) => {
  const body = { issuer: 'https://login.example', subject: unique('sub-') };
  const { userId } = await client.call(admitUser, { body }, context({ kind: 'service', service: 'gateway' }));
  const token = link.searchParams.get('token')!;
  return client.call(acceptInvitation, { body: { token } }, context({ kind: 'user', userId }));
};
const sealedSecrets = async (): Promise<string[]> => {
  const events = await engines.events.readStream(tenantStream(tenantId), { from: 0, limit: 500 });
  return events.flatMap(({ type, data }) =>
    type === 'MemberInvited' ? [(data as { sealedSecret: string }).sealedSecret] : [],
  );
};

describe('the e-mail of an invitation', () => {
  it('is one, to the invited alone, and says what it is for [M19]', async () => {
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
      subject: 'Invitation to Acme & <b>Sons</b>',
      messageId: expect.stringMatching(/^<[0-9a-f-]{36}@management\.one\.example>$/),
    });
    expect(sent!.html).toBeUndefined();
    expect(sent!.text).toContain('until 2026-03-06 10:00 UTC');
    expect(await accept(link)).toMatchObject({ tenantId, roles: ['issuer'] });
    await expect(accept(link)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('with a new link makes the link before dead', async () => {
    const email = freshEmail();
    await invite(email);
    const first = await mail.linkTo(email);
    await invite(email);
    await waitUntil(() => mail.to(email).length === 2, { timeoutMs: 30_000, what: 'the second e-mail' });
    await expect(accept(first)).rejects.toMatchObject({ kind: 'invalid' });
    expect(await accept(await mail.linkTo(email))).toMatchObject({ tenantId });
  });

  it('leaves no secret behind once it is handed over', async () => {
    const email = freshEmail();
    await invite(email);
    await mail.linkTo(email);
    const sealed = (await sealedSecrets()).at(-1)!;
    await waitUntil(async () => isErased(await engines.vault.open(tenantId, 'delivery', sealed)), {
      timeoutMs: 30_000,
      what: 'the key of the secret destroyed',
    });
  });

  it('waits while the server turns it away for now, and goes out once it takes it', async () => {
    const email = freshEmail();
    mail.answer = 451;
    await invite(email);
    const refusals = mail.refused;
    await waitUntil(() => mail.refused > refusals + 1, { timeoutMs: 30_000, what: 'a second try' });
    expect(mail.to(email)).toEqual([]);
    expect(engines.health.report().ready).toBe(true);
    mail.answer = 250;
    await mail.linkTo(email);
  });

  it('waits too while the server refuses the sender, which is for the operator to mend', async () => {
    const email = freshEmail();
    mail.senderAnswer = 553;
    const refusals = mail.refused;
    await invite(email);
    await waitUntil(() => mail.refused > refusals + 1, { timeoutMs: 30_000, what: 'a second try' });
    mail.senderAnswer = 250;
    await mail.linkTo(email);
  });

  it('that is refused for good holds up nobody else’s', async () => {
    const refused = freshEmail();
    mail.answer = 550;
    const refusals = mail.refused;
    await invite(refused);
    await waitUntil(() => mail.refused > refusals, { timeoutMs: 30_000, what: 'the refusal' });
    mail.answer = 250;
    const other = freshEmail();
    await invite(other);
    await mail.linkTo(other);
    expect(mail.to(refused)).toEqual([]);
    // Invited again, there is another try.
    await invite(refused);
    await mail.linkTo(refused);
  });

  it('is not sent for an invitation that was replaced or withdrawn before its turn', async () => {
    mail.answer = 451;
    const withdrawn = freshEmail();
    const replaced = freshEmail();
    const { userId } = await invite(withdrawn);
    await invite(replaced);
    await invite(replaced);
    await client.call(deleteMembership, { params: { tenantId, userId } }, boss());
    // The first of them may have been under way before.
    const { refused } = mail;
    await waitUntil(() => mail.refused > refused + 1, { timeoutMs: 30_000, what: 'two more refusals' });
    mail.answer = 250;
    await mail.linkTo(replaced);
    const last = freshEmail();
    await invite(last);
    await mail.linkTo(last);
    expect(mail.to(withdrawn)).toEqual([]);
    expect(mail.to(replaced)).toHaveLength(1);
  });

  it(
    'goes out after a restart when the server was away, once',
    async () => {
      const email = freshEmail();
      mail.answer = 451;
      await invite(email);
      await stop();
      mail.answer = 250;
      const before = mail.mails.length;
      await start({ SMTP_URL: mail.url });
      await mail.linkTo(email);
      const last = freshEmail();
      await invite(last);
      await mail.linkTo(last);
      expect(mail.mails.slice(before).map(({ recipients }) => recipients)).toEqual([[email], [last]]);
    },
    START_MS,
  );

  it(
    'is a file for the owner of the data folder where there is no server',
    async () => {
      await stop();
      await start({});
      const email = freshEmail();
      await invite(email);
      const folder = join(dataDir, 'mail');
      const name = await waitUntil(async () => (await readdir(folder)).find((it) => it.endsWith('.eml')), {
        timeoutMs: 30_000,
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
