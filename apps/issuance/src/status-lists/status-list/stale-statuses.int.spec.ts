/** @engines embedded */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, retrieveStatusListToken, sdJwtConfigurations, type HttpAnswer } from '@attestry/contracts';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { decodeJwt } from 'jose';
import { issuanceService } from '../../index.js';
import { changeStatus, recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import type { CredentialRecordedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { firstListId } from './first-list-id.js';
import { PublishStatusLists } from './publish-status-lists.worker.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { shardOf } from './shard-of.js';
import { StatusIndexes, type AllocatedStatus } from './status-indexes.js';
import { statusLists, StatusListsReadModel } from './status-lists.read-model.js';

const TENANT = '10000000-0000-4000-8000-00000000000a';
const URL_OF_TENANT = 'http://acme.localhost:8080';
const tenant = { id: TENANT, host: 'acme.localhost:8080', baseUrl: URL_OF_TENANT };
const key = { tenantId: TENANT, listId: firstListId(TENANT, `jwt ${URL_OF_TENANT}`) };
/** Later than that of any lease. */
const term = { epoch: 1_000_000, isHeld: true };

let paused: Promise<void> | undefined;
let resume = () => {};
/** Batches of the statuses wait for `resume`, before their transactions: others can use the database meanwhile. */
const pause = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  paused = promise;
  resume = resolve;
};
/** Whether they do after the batch that opens the list. */
let pausesOnceListed = false;

const service = new ServiceUnderTest(issuanceService, {
  baseOf: () => URL_OF_TENANT,
  prepare: ({ events }) => {
    const subscribe = events.subscribe.bind(events);
    events.subscribe = (options, handler) => {
      if (options.categories !== statusLists.categories) return subscribe(options, handler);
      const onEvents: typeof handler.onEvents = async (batch, next) => {
        await paused;
        await handler.onEvents(batch, next);
        if (!pausesOnceListed || !batch.some(({ type }) => type === 'StatusListOpened')) return;
        pausesOnceListed = false;
        pause();
      };
      return subscribe(options, { ...handler, onEvents });
    };
  },
});
let ids = 0;
const newId = () => `5${String(++ids).padStart(7, '0')}-0000-4000-8000-000000000000`;

const { project } = statusLists;
type Project = typeof project;
/** Replaces the projection of the statuses alone. */
const projectAs = (replaced: Project) => {
  statusLists.project = replaced;
};
const { get } = service;
const lists = () => get(StatusListsReadModel);
const publishShard = () => get(PublishStatusLists).publishShard(shardOf(key.listId), term);

const fetchToken = async (): Promise<string> => {
  const request = { params: { id: key.listId }, raw: { method: 'GET', url: '/', headers: {}, text: '' } };
  return ((await service.visit(retrieveStatusListToken, request, TENANT)) as HttpAnswer).$http.body as string;
};
const statusOf = (token: string, { index }: AllocatedStatus): number =>
  getListFromStatusListJWT(token).getStatus(index);
/** Whether the list has to be published at some time: it is not while no credential names it. */
const isUsed = async (): Promise<boolean> => {
  const due = await get(PublishedListsReadModel).listDue(shardOf(key.listId), new Date('2999-01-01'), 10);
  return due.some(({ listId }) => listId === key.listId);
};
const published = async (when: (token: string) => boolean = () => true): Promise<string> => {
  let token = '';
  await waitUntil(async () => (token = await fetchToken().catch(() => '')) !== '' && when(token) && isUsed(), {
    what: 'the token of the list',
    // Each look reads 131,072 statuses.
    intervalMs: 100,
  });
  return token;
};

/** A credential with an index of the list. */
const issue = async (): Promise<AllocatedStatus & { revoke(): Promise<void> }> => {
  const series = { tokenType: 'jwt', size: 131_072, bits: 2, signer: { kind: 'issuerSigner', issuer: URL_OF_TENANT } };
  const [status] = await get(StatusIndexes).allocate(tenant, series as never, 1);
  const credentialId = newId();
  const stream = issuedCredentialStream(TENANT, credentialId);
  const context = serviceContext('issuance.spec', TENANT);
  const { listId, index } = status!;
  const data = { credentialId, format: 'dc+sd-jwt', status: { listId, index } } as unknown as CredentialRecordedData;
  await service.engines.streams.runDecision(
    issuedCredential,
    stream,
    (state) => recordCredential(state, data),
    context,
  );
  const revoke = async () => {
    const change = { format: 'dc+sd-jwt', status: 'invalid' } as const;
    const decide = (state: Parameters<typeof changeStatus>[0]) =>
      changeStatus(state, change, service.engines.clock.now());
    await service.engines.streams.runDecision(issuedCredential, stream, decide, context);
  };
  return { ...status!, revoke };
};

beforeAll(async () => {
  await service.open();
  await service.admin(
    sdJwtConfigurations.create,
    {
      body: {
        ...{ type: 'Course', name: 'Course', issuer: { name: 'Acme' }, revocable: true },
        claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
      },
    },
    TENANT,
  );
});
beforeEach(() => {
  service.ahead = 0;
});
afterEach(() => {
  resume();
  projectAs(project);
});
afterAll(() => service.remove());

/** Tokens that are due are not signed, by the process and by a later holder of the lease. */
const expectUnpublished = async (token: string) => {
  const due = () => get(PublishedListsReadModel).listDue(shardOf(key.listId), service.engines.clock.now(), 10);
  // A publication that was under way when the clock was set forward may have put it off by a second.
  await waitUntil(async () => (await due()).some(({ listId }) => listId === key.listId), {
    what: 'the list to be due',
  });
  for (let n = 0; n < 3; n++) expect(await publishShard()).toBe(0);
  expect(await fetchToken()).toBe(token);
  expect(service.engines.health.report().checks).toContainEqual({
    name: `issuance.status-list-publisher-${shardOf(key.listId)}`,
    healthy: true,
    error: expect.stringMatching(/^the statuses are behind/) as string,
  });
};

describe('the token of a status list [T146]', () => {
  it('is not signed while the feed of the statuses stands still', async () => {
    const credential = await issue();
    const token = await published();
    pause();
    await credential.revoke();
    // Nothing failed: the projection is healthy.
    service.ahead = 200_000;
    await expectUnpublished(token);
    expect(lists().running.health.healthy).toBe(true);
    resume();
    await published((current) => current !== token && statusOf(current, credential) === 1);
  });

  it('is not signed while an event cannot be projected', async () => {
    const credential = await issue();
    const token = await published();
    projectAs(() => Promise.reject(new Error('it cannot be projected')));
    await credential.revoke();
    await waitUntil(() => !lists().running.health.healthy, { what: 'the failure' });
    service.ahead = 800_000;
    await expectUnpublished(token);
    projectAs(project);
    await published((current) => current !== token && statusOf(current, credential) === 1);
  });

  it('is not signed while the statuses are built for the first time, with revoked credentials as valid', async () => {
    const revoked = await issue();
    // More than one batch, so that the list is known before its changes.
    const context = serviceContext('issuance.spec', TENANT);
    for (let n = 0; n < 6; n++)
      await service.engines.streams.runDecision(
        issuedCredential,
        issuedCredentialStream(TENANT, newId()),
        () => Array.from({ length: 200 }, () => ({ type: 'CredentialDeleted' as const, data: {} as never })),
        context,
      );
    await revoked.revoke();
    await published((token) => statusOf(token, revoked) === 1);
    await service.close();
    for (const file of await readdir(service.folder))
      if (file.startsWith('read-models.db')) await rm(join(service.folder, file));
    pausesOnceListed = true;
    await service.open();
    await waitUntil(async () => (await lists().find(key)) !== undefined, { what: 'the list' });
    const { readsOwnVersion, health } = lists().running;
    expect([readsOwnVersion, health.healthy]).toEqual([true, true]);
    for (let n = 0; n < 3; n++) expect(await publishShard()).toBe(0);
    const refused = await fetchToken().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({ kind: 'unavailable' });
    resume();
    const token = await published();
    expect(statusOf(token, revoked)).toBe(1);
    expect(decodeJwt(token).sub).toBe(`${URL_OF_TENANT}/v2/credentials/status-lists/${key.listId}/token`);
  }, 60_000);
});
