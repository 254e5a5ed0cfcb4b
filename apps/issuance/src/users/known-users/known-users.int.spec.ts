/** @engines embedded postgres */
import {
  AppError,
  deletePreAuthorizedOffer,
  deleteUser,
  listUserCredentials,
  retrievePreAuthorizedOffer,
  retrieveUser,
  updateUser,
  type PageOf,
  type UserCredential,
} from '@attestry/contracts';
import { isErased, type StoredValue } from '@attestry/keys';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusal, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';
import { userStream } from '../user/user.state.js';
import { UsersReadModel } from '../user/users.read-model.js';

const { TENANT, OTHER } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, makeOffer: offer, codeOf, exchange: redeem, nonceFor, prove, collect } = service;
const { configureFormat: configure, begin: start, verified } = service;
let jwtVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('the user of an offer that keeps nothing', () => {
  const usersOf = () => service.get(UsersReadModel);
  const keys = () => service.get(SessionKeys);
  const read = async (userId: string) => {
    const params = { id: userId };
    const found = await admin(retrieveUser, { params }).catch((error: AppError) => error.code);
    await usersOf().running.waitForHead(10_000);
    const row = await usersOf()
      .running.db.selectFrom('issuance_users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirst();
    return { found, isListed: row !== undefined };
  };
  const typesOf = async (userId: string) =>
    (await service.engines.events.readStream(userStream(TENANT, userId))).map(({ type }) => type);
  const expire = async () => {
    service.ahead = 300_000 + 61_000;
    await keys().sweep();
  };
  const collectOne = async (token: string) => {
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    return collect(token, { credential_configuration_id: jwtVc, proofs });
  };
  const GONE = { found: 'NotFound', isListed: false };

  it('is found and listed from the offer on, without an event, and keeps the credentials', async () => {
    const { made, token } = await start(jwtVc);
    const { userId: id } = made;
    expect(await read(id)).toEqual({ found: { id, claims: {} }, isListed: true });
    await collectOne(token);
    await expire();
    await usersOf().running.waitForHead(10_000);
    const { data } = (await admin(listUserCredentials, { params: { userId: id } })) as PageOf<UserCredential>;
    expect(data).toMatchObject([{ offerId: made.id, credentialConfigurationId: jwtVc }]);
    expect(await read(id)).toEqual({ found: { id, claims: {} }, isListed: true });
    expect(await typesOf(id)).toEqual([]);
    await usersOf().running.rebuild();
    expect(await read(id)).toMatchObject({ isListed: true });
  });

  it('belongs to one tenant, and no other id names it', async () => {
    const made = await offer({ credentials: [jwtVc] });
    expect(await refusalCode(admin(retrieveUser, { params: { id: made.userId } }, OTHER))).toBe('NotFound');
    expect(await refusalCode(admin(retrieveUser, { params: { id: made.id } }))).toBe('NotFound');
  });

  it('ends with its unclaimed offer, which still shows that it has expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const { token, made: redeemed } = await start(jwtVc);
    await expire();
    expect(await read(made.userId)).toEqual(GONE);
    expect(await typesOf(made.userId)).toEqual(['UserExpired']);
    for (const operation of [deleteUser, updateUser])
      expect(await refusalCode(admin(operation, { params: { id: made.userId }, body: {} }))).toBe('NotFound');
    expect((await refusal(offer({ credentials: [jwtVc], userId: made.userId }))).kind).toBe('invalid');
    for (const { id } of [made, redeemed])
      expect(await admin(retrievePreAuthorizedOffer, { params: { id } })).toMatchObject({ state: 'EXPIRED' });
    expect(await refusalCode(collectOne(token))).toBe('invalid_token');
    await usersOf().running.rebuild();
    expect(await read(made.userId)).toEqual(GONE);
    expect(await keys().sweep()).toBe(0);
  });

  it('that cannot be ended is tried again ten seconds later and holds up no other', async () => {
    const [broken, other] = [await offer({ credentials: [jwtVc] }), await offer({ credentials: [jwtVc] })];
    const { streams } = service.engines;
    const runDecision = streams.runDecision.bind(streams);
    streams.runDecision = (aggregate, stream, ...more) =>
      stream === userStream(TENANT, broken.userId)
        ? Promise.reject(new Error('engine fault'))
        : runDecision(aggregate, stream, ...more);
    try {
      await expire();
    } finally {
      streams.runDecision = runDecision;
    }
    expect([await typesOf(broken.userId), await typesOf(other.userId)]).toEqual([[], ['UserExpired']]);
    service.ahead += 10_000;
    await keys().sweep();
    expect(await typesOf(broken.userId)).toEqual(['UserExpired']);
  });

  it('outlives the deletion of its offer until that would have expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    await admin(deletePreAuthorizedOffer, { params: { id: made.id } });
    service.ahead = 290_000;
    await keys().sweep();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
    await expire();
    expect(await read(made.userId)).toEqual(GONE);
  });

  it('does not end while the token of its offer is valid', async () => {
    const made = await offer({ credentials: [jwtVc] });
    service.ahead = 290_000;
    const { access_token: token } = await redeem(codeOf(made));
    await expire();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
    expect((await collectOne(token)).credentials).toHaveLength(1);
    service.ahead = 290_000 + 300_000 + 61_000;
    await keys().sweep();
    expect(await read(made.userId)).toMatchObject({ isListed: true });
  });

  it('has a stream from its first change on, and its claims are issued', async () => {
    const configurationId = await configure('jwt_vc_json', 'OfLateUser');
    const { userId: id } = await offer({ credentials: [jwtVc] });
    const changes = [{ claims: { given_name: 'Eve' } }, { claims: { given_name: 'Grace' } }];
    for (const body of changes) await admin(updateUser, { params: { id }, body });
    expect(await typesOf(id)).toEqual(['UserCreated', 'UserClaimsReplaced', 'UserClaimsReplaced']);
    const { token } = await start(configurationId, { claims: {}, userId: id });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: configurationId, proofs });
    expect((await verified(credentials[0]!.credential)).vc.credentialSubject).toMatchObject({ givenName: 'Grace' });
    expect(await read(id)).toEqual({ found: { id, ...changes[1] }, isListed: true });
  });

  it.each<[string, (id: string) => Promise<unknown>, object]>([
    ['changed', (id) => admin(updateUser, { params: { id }, body: { claims: { a: 1 } } }), { a: 1 }],
    ['named by another offer', (userId) => offer({ credentials: [jwtVc], userId }), {}],
    [
      'kept claims by another offer',
      (userId) =>
        offer({ credentials: [jwtVc], userId, claims: { given_name: 'Ada' }, claimsToPersist: ['given_name'] }),
      { given_name: 'Ada' },
    ],
  ])('stays after its offer has expired when it was %s', async (_, change, claims) => {
    const { userId: id } = await offer({ credentials: [jwtVc] });
    await change(id);
    await expire();
    expect(await read(id)).toEqual({ found: { id, claims }, isListed: true });
    expect((await typesOf(id))[0]).toBe('UserCreated');
  });

  it('changed at the same time has one first event', async () => {
    const { userId: id } = await offer({ credentials: [jwtVc] });
    const wanted = Array.from({ length: 5 }, (_, n) => ({ n }));
    await Promise.all(wanted.map((claims) => admin(updateUser, { params: { id }, body: { claims } })));
    expect((await typesOf(id)).sort()).toEqual([...wanted.map(() => 'UserClaimsReplaced'), 'UserCreated']);
  });

  it('is deleted with the keys of its session, and no credential follows', async () => {
    const { made, token } = await start(jwtVc);
    const [created] = await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    const { storedClaims } = created!.data as { storedClaims: StoredValue };
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await read(made.userId)).toEqual(GONE);
    expect(await typesOf(made.userId)).toEqual(['UserCreated', 'UserDeleted']);
    expect(isErased(await service.engines.vault.sealing.openStored(TENANT, 'session', storedClaims))).toBe(true);
    expect(await refusalCode(collectOne(token))).toBe('credential_request_denied');
    for (const operation of [deleteUser, retrieveUser])
      expect(await refusalCode(admin(operation, { params: { id: made.userId } }))).toBe('NotFound');
    expect(await refusalCode(admin(retrievePreAuthorizedOffer, { params: { id: made.id } }))).toBe('NotFound');
  });

  it('has a stream when the offer keeps claims', async () => {
    const { userId: id } = await offer({ credentials: [jwtVc], claimsToPersist: ['given_name'] });
    expect(await typesOf(id)).toEqual(['UserCreated']);
    await expire();
    expect(await read(id)).toEqual({ found: { id, claims: { given_name: 'Ada' } }, isListed: true });
  });
});
