import { jest } from '@jest/globals';
import {
  clientSecretRotated,
  lookUpManagementClient,
  lookUpMember,
  lookUpTenant,
  lookUpToken,
  tokenRevoked,
  type DirectorySecret,
  type Operation,
  type Role,
} from '@attestry/contracts';
import type { PlatformConfig, Reactions, ServiceClient } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { Directory } from './directory.js';

const HOST = 'acme.example';
const NOW = new Date('2026-03-01T10:00:00.000Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const deadline = Date.now() + 60_000;
const LIVES_UNTIL = Date.now() + 3_600_000;

/** Management, as it answers now. */
let ended: { tenantId: string; isPurged: boolean } | undefined;
let secrets: DirectorySecret[] | undefined;
let managementSecret: string | undefined;
let member: Role[] | undefined;
let revoked: Set<string>;
let calls: string[];
let answering: (operation: string) => Promise<void>;
let feed: { health: { healthy: boolean } };
let publish: (subject: string, data: object) => Promise<void>;
let directory: Directory;

beforeEach(() => {
  ended = undefined;
  secrets = [{ id: 's1' }];
  managementSecret = 'm1';
  member = ['issuer'];
  revoked = new Set();
  calls = [];
  answering = async () => undefined;
  feed = { health: { healthy: true } };
  const answers: Record<string, (body: { tokenId?: string }) => unknown> = {
    [lookUpTenant.name]: () =>
      ended
        ? { ended }
        : {
            tenant: {
              tenantId: 't',
              environmentId: 'e',
              host: HOST,
              clients: [{ clientId: 'c', roles: ['issuer'], ...(secrets && { secrets }) }],
            },
          },
    [lookUpManagementClient.name]: () => ({ exists: true, ...(managementSecret && { secretId: managementSecret }) }),
    [lookUpMember.name]: () => (member ? { roles: member } : {}),
    [lookUpToken.name]: ({ tokenId }) => ({ isRevoked: revoked.has(tokenId!) }),
  };
  const services = {
    call: async ({ name }: Operation, { body }: { body: object }) => {
      calls.push(name);
      const answer = answers[name]!(body);
      await answering(name);
      return answer;
    },
  } as unknown as ServiceClient;
  const reactions = {
    listen: (_options: unknown, handler: (messages: object[]) => Promise<void>) => {
      publish = (subject, data) => handler([{ subject, data }]);
      return feed;
    },
  } as unknown as Reactions;
  directory = new Directory(services, reactions, { publicScheme: 'https' } as PlatformConfig);
  directory.onApplicationBootstrap();
});

const callsOf = (operation: { name: string }) => calls.filter((name) => name === operation.name).length;

describe('a deleted tenant', () => {
  it('has its host and no client, and is cached for a second, so that its purge is seen', async () => {
    ended = { tenantId: 't', isPurged: false };
    const look = () => directory.tenantByHost(HOST, deadline);
    expect(await look()).toEqual({
      context: { id: 't', host: HOST, baseUrl: `https://${HOST}` },
      host: { api: 'tenant', publicUrl: `https://${HOST}`, tenant: (await look())!.context, ended: 'deleted' },
      clients: new Map(),
      restrictIdentityRoles: false,
    });
    expect(await directory.rolesOf(HOST, { clientId: 'c' }, NOW, deadline)).toBeUndefined();
    const asked = callsOf(lookUpTenant);
    expect((await look())!.host.ended).toBe('deleted');
    expect(callsOf(lookUpTenant)).toBe(asked);
    ended = { tenantId: 't', isPurged: true };
    await waitUntil(async () => (await look())!.host.ended === 'purged', { what: 'the purge' });
    // Without the feed nothing is cached.
    feed.health.healthy = false;
    const before = callsOf(lookUpTenant);
    await look();
    await look();
    expect(callsOf(lookUpTenant)).toBe(before + 2);
  });
});

describe('the roles of a member', () => {
  beforeEach(() => jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate', 'setTimeout'] }));
  afterEach(() => jest.useRealTimers());
  const roles = (userId = 'u', tenantId = 't') => directory.rolesOfMember(tenantId, userId, deadline);

  it('are looked up once in half a second, whether or not there are any', async () => {
    for (let n = 0; n < 3; n++) expect(await roles()).toEqual(['issuer']);
    member = undefined;
    jest.advanceTimersByTime(499);
    expect(await roles()).toEqual(['issuer']);
    expect(callsOf(lookUpMember)).toBe(1);
    jest.advanceTimersByTime(1);
    for (let n = 0; n < 3; n++) expect(await roles()).toBeUndefined();
    expect(callsOf(lookUpMember)).toBe(2);
  });

  it('are as old as the question, not as the answer', async () => {
    answering = async () => void jest.advanceTimersByTime(500);
    for (let n = 0; n < 2; n++) await roles();
    expect(callsOf(lookUpMember)).toBe(2);
  });

  it('are those of the tenant and the person, and of concurrent calls looked up once', async () => {
    await Promise.all([roles(), roles(), roles('v'), roles('u', 't2')]);
    expect(callsOf(lookUpMember)).toBe(3);
  });

  it('are looked up again after a failure', async () => {
    answering = () => Promise.reject(new Error('management is away'));
    await expect(roles()).rejects.toThrow('management is away');
    answering = async () => undefined;
    expect(await roles()).toEqual(['issuer']);
  });
});

describe("a token's secret", () => {
  const roles = (secretId?: string, now = NOW) =>
    directory.rolesOf(HOST, { clientId: 'c', ...(secretId !== undefined && { secretId }) }, now, deadline);

  it('is looked up once', async () => {
    for (let n = 0; n < 3; n++) expect(await roles('s1')).toEqual(['issuer']);
    expect(callsOf(lookUpTenant)).toBe(1);
  });

  it("has ended when it is not one of the client's secrets", async () => {
    expect(await roles('gone')).toBeUndefined();
  });

  it('ends with its overlap, without an event', async () => {
    secrets = [{ id: 's2' }, { id: 's1', expiresAt: later(60).toISOString() }];
    expect(await roles('s1', later(59.999))).toEqual(['issuer']);
    expect(await roles('s1', later(60))).toBeUndefined();
    expect(await roles('s2', later(60))).toEqual(['issuer']);
    expect(callsOf(lookUpTenant)).toBe(1);
  });

  it('ends with the event of a rotation', async () => {
    expect(await roles('s1')).toEqual(['issuer']);
    secrets = [{ id: 's2' }];
    await publish(clientSecretRotated.subject, { tenantId: 't', clientId: 'c' });
    expect(await roles('s1')).toBeUndefined();
  });

  it('is looked up again when it may be newer than the cached entry', async () => {
    expect(await roles('s1')).toEqual(['issuer']);
    secrets = [{ id: 's2' }, { id: 's1', expiresAt: later(60).toISOString() }];
    expect(await roles('s2')).toEqual(['issuer']);
  });

  it('is not compared for tokens and management of the previous release', async () => {
    expect(await roles()).toEqual(['issuer']);
    secrets = undefined;
    await publish(clientSecretRotated.subject, { tenantId: 't', clientId: 'c' });
    expect(await roles('s1')).toEqual(['issuer']);
  });

  it('of a management client ends when the operator replaces it', async () => {
    const has = (secretId?: string) =>
      directory.hasManagementClient({ clientId: 'm', ...(secretId !== undefined && { secretId }) }, deadline);
    expect(await has('m1')).toBe(true);
    expect(await has('m0')).toBe(false);
    managementSecret = 'm2';
    expect(await has('m2')).toBe(true);
    expect(await has('m1')).toBe(false);
    expect(await has()).toBe(true);
  });
});

describe('a revoked token', () => {
  const isRevoked = (tokenId: string) => directory.isRevoked(tokenId, LIVES_UNTIL, new Date(), deadline);
  const message = (tokenId: string) =>
    publish(tokenRevoked.subject, { tokenId, clientId: 'c', expiresAt: new Date(LIVES_UNTIL).toISOString() });

  it('is looked up once, for a gateway that starts later', async () => {
    revoked.add('old');
    for (let n = 0; n < 3; n++) expect([await isRevoked('old'), await isRevoked('lasting')]).toEqual([true, false]);
    expect(callsOf(lookUpToken)).toBe(2);
  });

  it('ends with the event', async () => {
    expect(await isRevoked('a')).toBe(false);
    revoked.add('a');
    expect(await isRevoked('a')).toBe(false);
    await message('a');
    expect(await isRevoked('a')).toBe(true);
    expect(callsOf(lookUpToken)).toBe(1);
  });

  it('ends also when the event arrives before the response', async () => {
    answering = async (name) => {
      if (name === lookUpToken.name) await message('a');
    };
    expect(await isRevoked('a')).toBe(false);
    expect(await isRevoked('a')).toBe(true);
  });

  it('is looked up at each call while the feed is stale', async () => {
    expect(await isRevoked('a')).toBe(false);
    feed.health.healthy = false;
    revoked.add('a');
    expect(await isRevoked('a')).toBe(true);
  });
});
