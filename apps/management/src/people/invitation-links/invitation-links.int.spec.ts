import { createServer, type Server } from 'node:http';
import {
  acceptInvitation,
  admitUser,
  cancelInvitation,
  createTenant,
  inviteMember,
  resendInvitation,
} from '@attestry/contracts';
import { newId } from '@attestry/keys';
import { SignInRegistry } from '@attestry/service-kit';
import { countReads, hostFetch, MailReceiver, waitUntil, type ReadCount } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { managementService } from '../../index.js';
import { InvitationLinksReadModel } from './invitation-links.read-model.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';

const START_MS = 120_000;
/** Events that the tenant's stream has before any link is opened. */
const AGE = 2500;

let reads: ReadCount;
const service = new ServiceUnderTest(managementService, {
  prepare: ({ events }) => {
    reads = countReads(events);
  },
});
let mail: MailReceiver;
let server: Server;
let base: string;
let tenantId: string;

const { asManagement: context } = service;
const boss = () => context({ kind: 'management', clientId: 'boss' });
const person = async () => {
  const body = { issuer: 'https://login.example', subject: newId() };
  const { userId } = await service.client.call(admitUser, { body }, boss());
  return context({ kind: 'user', userId });
};
const start = async () => {
  const { port } = server.address() as { port: number };
  await service.open({ settings: { BASE_DOMAIN: `localhost:${port}`, SMTP_URL: mail.url } });
  base = service.config.signInIssuer;
};
/** Nothing of any stream is in memory afterwards. */
const restart = async () => {
  await service.catchUp(InvitationLinksReadModel, TenantListsReadModel);
  await service.close();
  await start();
  reads.reset();
};
const invite = async (email: string) => {
  const { userId } = await service.client.call(
    inviteMember,
    { params: { tenantId }, body: { email, roles: ['issuer'] } },
    boss(),
  );
  return { userId, token: (await mail.linkTo(email)).searchParams.get('token')! };
};
const open = async (token: string) => {
  const answer = await hostFetch(`${base}/invitation?${new URLSearchParams({ token }).toString()}`);
  return { status: answer.status, text: await answer.text() };
};
/** Another secret, everything else unchanged. */
const forged = (token: string) => {
  const parts = token.split('.');
  parts[3] = 'A'.repeat(43);
  return parts.join('.');
};

beforeAll(async () => {
  mail = await MailReceiver.start();
  server = createServer((request, response) => {
    const { signIn } = service.get(SignInRegistry);
    const call = () => Promise.reject(new Error('not called here'));
    void signIn!.handle(request, response, { requestId: 'request', address: '192.0.2.1', call });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await start();
  const { environments } = service.config;
  const body = { subdomain: 'aged', name: 'Aged', environmentId: environments[0]!.id };
  tenantId = (await service.client.call(createTenant, { body }, boss())).id;
  const stored = { tenantId, requestId: 'request', actor: 'test', operation: 'test' };
  for (let from = 0; from < AGE; from += 500)
    await service.engines.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      () => Array.from({ length: 500 }, (_, n) => ({ type: 'TenantRenamed', data: { tenantId, name: `Aged ${n}` } })),
      stored,
    );
}, START_MS);
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await service.remove();
  await mail.stop();
});

describe('the link of an invitation into a tenant with a long history', () => {
  it(
    'causes no read of a stream before its secret is verified, nor of the history afterwards',
    async () => {
      const { token } = await invite('guest@people.example');
      await restart();
      expect((await open(forged(token))).status).toBe(404);
      expect((await open(token.replace(/^[^.]+/, newId()))).status).toBe(404);
      expect(reads.of()).toBe(0);
      const attempt = service.client.call(acceptInvitation, { body: { token: forged(token) } }, await person());
      await expect(attempt).rejects.toMatchObject({ kind: 'invalid', details: [{ param: 'token' }] });
      expect(reads.of('tenant')).toBe(0);

      const { status, text } = await open(token);
      expect([status, text.includes('Join Aged 499')]).toEqual([200, true]);
      expect(reads.of('tenant')).toBe(0);
      expect(await service.client.call(acceptInvitation, { body: { token } }, await person())).toMatchObject({
        tenantId,
        roles: ['issuer'],
      });
      // The tenant is needed now: a snapshot bounds what is read of it (ADR 0055).
      expect(reads.of('tenant')).toBeGreaterThan(0);
      expect(reads.of('tenant')).toBeLessThan(AGE / 2);

      await restart();
      const used = await open(token);
      expect([used.status, used.text.includes('This invitation has already been used')]).toEqual([410, true]);
      expect(reads.of('tenant')).toBe(0);
    },
    START_MS,
  );

  it(
    'shows whether it was replaced or withdrawn, without reading the history',
    async () => {
      const { userId, token } = await invite('changed@people.example');
      await service.client.call(resendInvitation, { params: { tenantId, userId } }, boss());
      // Sent after the answer, from the tenant's state: a restart would read that again.
      await waitUntil(() => mail.to('changed@people.example').length === 2, { what: 'the second e-mail' });
      await restart();
      expect((await open(token)).text).toContain('This invitation was replaced');
      expect(reads.of('tenant')).toBe(0);
      const other = await invite('cancelled@people.example');
      await service.client.call(cancelInvitation, { params: { tenantId, userId: other.userId } }, boss());
      await restart();
      expect((await open(other.token)).text).toContain('This invitation was withdrawn');
      expect((await open(forged(other.token))).text).toContain('This link is not valid');
      expect(reads.of('tenant')).toBe(0);
    },
    START_MS,
  );
});
