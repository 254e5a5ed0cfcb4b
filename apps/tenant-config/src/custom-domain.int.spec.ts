/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  createCustomDomain,
  customDomainVerified,
  customDomainWithdrawn,
  deleteCustomDomain,
  lookUpCustomDomain,
  retrieveCustomDomain,
  retrieveBrand,
  retrieveManifest,
  tenantDeleted,
  updateCustomDomain,
  verifyCustomDomain,
  type CustomDomain,
} from '@attestry/contracts';
import { TestDnsServer, waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { tenantConfigService } from './index.js';
import { verifiedDomain } from './custom-domain/verified-domain.claim.js';

const received: { subject: string; data: object }[] = [];
let dns: TestDnsServer;

const service = new ServiceUnderTest(tenantConfigService, {
  settings: { BASE_DOMAIN: 'issue.example.org' },
  prepare: ({ bus }) =>
    bus.listen(
      {
        name: 'test.listener',
        subjects: [customDomainVerified, customDomainWithdrawn].map(({ subject }) => subject),
      },
      async (messages) =>
        void received.push(...messages.map(({ subject, data }) => ({ subject, data: data as object }))),
    ),
});
const { asClient: contextOf } = service;
const asGateway = { ...contextOf('nobody'), deadline: Date.now() + 600_000 };

describe('the custom domain of a tenant', () => {
  const start = () => service.open({ settings: { DNS_SERVERS: dns.address } });
  const stop = () => service.close();
  const create = (tenantId: string, domain: string) =>
    service.client.call(
      createCustomDomain,
      { body: { name: 'Acme', logoUrl: 'https://acme.example/l.png', domain } },
      contextOf(tenantId),
    );
  const read = (tenantId: string): Promise<CustomDomain> =>
    service.client.call(retrieveCustomDomain, {}, contextOf(tenantId));
  const update = (tenantId: string, body: { name: string; logoUrl: string; domain: string }) =>
    service.client.call(updateCustomDomain, { body }, contextOf(tenantId));
  const remove = (tenantId: string) => service.client.call(deleteCustomDomain, {}, contextOf(tenantId));
  const verify = (tenantId: string) => service.client.call(verifyCustomDomain, {}, contextOf(tenantId));
  const ownerOf = async (host: string) =>
    (await service.client.call(lookUpCustomDomain, { body: { host } }, asGateway)).tenantId;
  const heard = (subject: string, tenantId: string) =>
    waitUntil(
      () => received.find((it) => it.subject === subject && (it.data as { tenantId: string }).tenantId === tenantId),
      {
        what: subject,
      },
    );
  const failed = (msg: string) => ({
    kind: 'invalid',
    message: 'Verification failed',
    details: [expect.objectContaining({ msg, param: 'domain' })],
  });
  const MISSING =
    'the domain has no TXT record; publish one at the domain itself whose whole value is verificationToken';
  const OTHER = 'the domain has TXT records, but none whose whole value is verificationToken';
  const UNKNOWN = 'the TXT records of the domain could not be looked up; try again in a moment';
  const ELSEWHERE = 'another tenant has verified this domain';
  const verified = async (tenantId: string, domain: string): Promise<CustomDomain> => {
    const made = await create(tenantId, domain);
    dns.set(domain, made.verificationToken);
    await verify(tenantId);
    return read(tenantId);
  };

  beforeAll(async () => {
    dns = await TestDnsServer.start();
    await start();
  });
  afterAll(async () => {
    await service.remove();
    await dns.stop();
  });

  it('is created unverified, read, changed and deleted [T4, T6, T7, T11, T12, T13, T14, T65]', async () => {
    const made = await create('t1', 'One.example');
    expect(made).toEqual({
      name: 'Acme',
      logoUrl: 'https://acme.example/l.png',
      domain: 'one.example',
      verificationToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      isVerified: false,
    });
    expect(await read('t1')).toEqual(made);
    await expect(create('t1', 'two.example')).rejects.toMatchObject({
      kind: 'invalid',
      details: [{ param: 'domain' }],
    });
    const renamed = { ...made, name: 'New' };
    expect(await update('t1', renamed)).toEqual(renamed);
    expect(await read('t1')).toEqual(renamed);
    await remove('t1');
    for (const call of [read, remove, verify, (id: string) => update(id, made)])
      await expect(call('t1')).rejects.toMatchObject({ kind: 'notFound' });
    expect((await create('t1', 'one.example')).verificationToken).not.toBe(made.verificationToken);
  });

  it('is created once by concurrent calls [T7]', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => create('race', `race${n}.example`)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it("cannot be below the platform's domains", async () => {
    for (const domain of ['issue.example.org', 'x.issue.example.org', 'management.issue.example.org'])
      await expect(create('t2', domain)).rejects.toMatchObject({ kind: 'invalid', details: [{ param: 'domain' }] });
  });

  it('is verified by a TXT record equal to the token, after any number of failures that are named [T5, T6, T8, T15, T626]', async () => {
    const { verificationToken: token } = await create('t3', 'three.example');
    await expect(verify('t3')).rejects.toMatchObject(failed(MISSING));
    for (const wrong of ['', `${token} `, `token=${token}`, token.toUpperCase(), randomUUID()]) {
      dns.set('three.example', wrong, 'v=spf1 -all');
      await expect(verify('t3')).rejects.toMatchObject(failed(OTHER));
    }
    // A record at another name proves nothing.
    dns.set('_attestry.three.example', token);
    await expect(verify('t3')).rejects.toMatchObject(failed(OTHER));
    // The name exists, without TXT records.
    dns.set('three.example');
    await expect(verify('t3')).rejects.toMatchObject(failed(MISSING));
    expect((await read('t3')).isVerified).toBe(false);
    expect(await ownerOf('three.example')).toBeUndefined();

    dns.set('three.example', 'v=spf1 -all', [token.slice(0, 7), token.slice(7, 20), token.slice(20)]);
    await verify('t3');
    expect(await read('t3')).toMatchObject({ isVerified: true, verifiedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(await ownerOf('three.example')).toBe('t3');
    expect((await heard(customDomainVerified.subject, 't3')).data).toEqual({
      tenantId: 't3',
      domain: 'three.example',
      revision: 1,
    });
  });

  it('remains verified without another look-up', async () => {
    dns.set('three.example');
    const { verifiedAt } = await read('t3');
    const before = dns.queries.length;
    await verify('t3');
    expect(dns.queries).toHaveLength(before);
    expect((await read('t3')).verifiedAt).toBe(verifiedAt);
  });

  it('is refused while DNS fails, without the reason [T626]', async () => {
    await create('t4', 'four.example');
    for (const rcode of [2, 5]) {
      dns.fail(rcode);
      await expect(verify('t4')).rejects.toMatchObject(failed(UNKNOWN));
    }
    dns.fail(0);
    dns.hush(true);
    const startedAt = performance.now();
    await expect(verify('t4')).rejects.toMatchObject(failed(UNKNOWN));
    expect(performance.now() - startedAt).toBeLessThan(6500);
    dns.hush(false);
  }, 15_000);

  it('belongs to one tenant only', async () => {
    const first = await create('t5', 'five.example');
    const second = await create('t6', 'five.example');
    dns.set('five.example', first.verificationToken, second.verificationToken);
    const results = await Promise.allSettled([verify('t5'), verify('t6')]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(results.filter((it) => it.status === 'rejected').map(({ reason }) => reason as unknown)).toEqual([
      expect.objectContaining(failed(ELSEWHERE)),
    ]);
    const [winner, loser] = results[0]!.status === 'fulfilled' ? ['t5', 't6'] : ['t6', 't5'];
    await expect(verify(loser!)).rejects.toMatchObject(failed(ELSEWHERE));
    expect(await ownerOf('five.example')).toBe(winner);
    await remove(winner!);
    expect(await ownerOf('five.example')).toBeUndefined();
    await verify(loser!);
    expect(await ownerOf('five.example')).toBe(loser);
  });

  it('refuses all but one of many that verify it concurrently, with the error of a later one', async () => {
    for (const round of [1, 2, 3]) {
      const domain = `rush${round}.example`;
      const tenants = Array.from({ length: 8 }, (_, n) => `rush-${round}-${n}`);
      const made = await Promise.all(tenants.map((tenantId) => create(tenantId, domain)));
      dns.set(domain, ...made.map(({ verificationToken }) => verificationToken));
      const results = await Promise.allSettled(tenants.map(verify));
      const winners = tenants.filter((_, n) => results[n]!.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      expect(await ownerOf(domain)).toBe(winners[0]);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(failed(ELSEWHERE));
    }
  });

  describe('moves to another tenant', () => {
    it('when the zone has the token of that tenant and no longer that of the holder', async () => {
      const former = await verified('h1', 'hands.example');
      const next = await create('h2', 'hands.example');
      // With both tokens in the zone the holder keeps it.
      dns.set('hands.example', former.verificationToken, next.verificationToken);
      await expect(verify('h2')).rejects.toMatchObject(failed(ELSEWHERE));
      expect(await ownerOf('hands.example')).toBe('h1');
      dns.set('hands.example');
      await expect(verify('h2')).rejects.toMatchObject(failed(MISSING));
      dns.set('hands.example', next.verificationToken);
      await verify('h2');
      expect(await ownerOf('hands.example')).toBe('h2');
      expect(await read('h2')).toMatchObject({ domain: 'hands.example', isVerified: true });
      // The former holder gets the same answers as after a deletion.
      await expect(read('h1')).rejects.toMatchObject({ kind: 'notFound' });
      await expect(
        service.client.call(retrieveManifest, {}, service.inTenant('h1', { kind: 'public' })),
      ).rejects.toMatchObject({
        kind: 'notFound',
      });
      expect((await heard(customDomainWithdrawn.subject, 'h1')).data).toEqual({
        tenantId: 'h1',
        domain: 'hands.example',
        revision: 2,
      });
      // It moves back by the same rule.
      const again = await create('h1', 'hands.example');
      await expect(verify('h1')).rejects.toMatchObject(failed(OTHER));
      dns.set('hands.example', again.verificationToken);
      await verify('h1');
      expect(await ownerOf('hands.example')).toBe('h1');
      await expect(read('h2')).rejects.toMatchObject({ kind: 'notFound' });
    });

    it('to one of several concurrent tenants', async () => {
      await verified('h3', 'many-hands.example');
      const tenants = Array.from({ length: 8 }, (_, n) => `h3-${n}`);
      const made = await Promise.all(tenants.map((tenantId) => create(tenantId, 'many-hands.example')));
      dns.set('many-hands.example', ...made.map(({ verificationToken }) => verificationToken));
      const results = await Promise.allSettled(tenants.map(verify));
      const winners = tenants.filter((_, n) => results[n]!.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(failed(ELSEWHERE));
      expect(await ownerOf('many-hands.example')).toBe(winners[0]);
      await expect(read('h3')).rejects.toMatchObject({ kind: 'notFound' });
    });

    it('not when the record is missing or the look-up fails', async () => {
      await verified('h4', 'kept-hands.example');
      await create('h5', 'kept-hands.example');
      for (const rcode of [2, 3, 5]) {
        dns.fail(rcode);
        await expect(verify('h5')).rejects.toMatchObject(failed(rcode === 3 ? MISSING : UNKNOWN));
      }
      dns.fail(0);
      expect(await ownerOf('kept-hands.example')).toBe('h4');
    });
  });

  it('loses its verification when the domain changes, which releases the previous domain [T6, T13]', async () => {
    const before = await verified('t7', 'seven.example');
    const after = await update('t7', { ...before, domain: 'newseven.example' });
    expect(after).toEqual({
      name: before.name,
      logoUrl: before.logoUrl,
      domain: 'newseven.example',
      verificationToken: expect.any(String),
      isVerified: false,
    });
    expect(after.verificationToken).not.toBe(before.verificationToken);
    expect(await ownerOf('seven.example')).toBeUndefined();
    expect((await heard(customDomainWithdrawn.subject, 't7')).data).toEqual({
      tenantId: 't7',
      domain: 'seven.example',
      revision: 2,
    });
    await verified('t8', 'seven.example');
    expect(await ownerOf('seven.example')).toBe('t8');
    // A change of name alone keeps what was verified.
    const current = await read('t8');
    expect(await update('t8', { ...current, name: 'Other' })).toEqual({ ...current, name: 'Other' });
    expect(await ownerOf('seven.example')).toBe('t8');
  });

  it('can be taken over from an unfinished verification, after a minute', async () => {
    const stream = verifiedDomain.stream('nine.example');
    const abandon = (claimedAt: string) =>
      service.engines.streams.runDecision(
        verifiedDomain,
        stream,
        () => [
          {
            type: 'VerifiedDomainClaimed',
            data: { domain: 'nine.example', owner: 'gone', verificationToken: 'x', claimedAt },
          },
        ],
        { tenantId: 'gone', requestId: 'r', actor: 'test', operation: 'test' },
      );
    await abandon(new Date().toISOString());
    const { verificationToken } = await create('t9', 'nine.example');
    dns.set('nine.example', verificationToken);
    await expect(verify('t9')).rejects.toMatchObject(failed(ELSEWHERE));
    await abandon(new Date(Date.now() - 60_001).toISOString());
    await verify('t9');
    expect(await ownerOf('nine.example')).toBe('t9');
  });

  it('shows the brand once verified', async () => {
    await create('t10', 'ten.example');
    await expect(
      service.client.call(retrieveManifest, {}, service.inTenant('t10', { kind: 'public' })),
    ).rejects.toMatchObject({ kind: 'notFound' });
    await expect(
      service.client.call(retrieveManifest, {}, service.inTenant('none', { kind: 'public' })),
    ).rejects.toMatchObject({
      kind: 'notFound',
    });
    const issuance = service.clientOf('issuance');
    const brandOf = (tenantId: string) => issuance.call(retrieveBrand, {}, contextOf(tenantId));
    expect([await brandOf('t10'), await brandOf('none')]).toEqual([{}, {}]);
    dns.set('ten.example', (await read('t10')).verificationToken);
    await verify('t10');
    expect(await service.client.call(retrieveManifest, {}, service.inTenant('t10', { kind: 'public' }))).toEqual({
      name: 'Acme',
      short_name: 'Acme',
      icons: [{ src: 'https://acme.example/l.png' }],
    });
    expect(await brandOf('t10')).toEqual({
      name: 'Acme',
      logoUrl: 'https://acme.example/l.png',
      domain: 'ten.example',
    });
  });

  it('ends with its tenant', async () => {
    await verified('t11', 'eleven.example');
    await service.engines.bus.publish([
      {
        id: randomUUID(),
        subject: tenantDeleted.subject,
        headers: { tenantId: 't11' },
        data: { tenantId: 't11', host: 'h' },
      },
    ]);
    await heard(customDomainWithdrawn.subject, 't11');
    await waitUntil(async () => (await ownerOf('eleven.example')) === undefined, {
      what: 'the release',
    });
    await verified('t12', 'eleven.example');
  });

  it('is known after a restart', async () => {
    await stop();
    await start();
    expect(await ownerOf('three.example')).toBe('t3');
    expect((await read('t3')).isVerified).toBe(true);
  });
});
