/** @engines embedded postgres */
import { decodeJwt } from 'jose';
import { AppError, issueCredential } from '@attestry/contracts';
import { EventStore, EventStoreUnavailable, Streams, type AppendResult, type UnitOfWork } from '@attestry/event-store';
import { serviceContext, type ResponseOf } from '@attestry/service-kit';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusal, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import type { CredentialRecordedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential } from '../../sessions/issued-credential/issued-credential.state.js';
import { firstListId } from './first-list-id.js';
import { permuteCounters } from './index-permutation.js';
import { statusList, statusListStream } from './status-list.state.js';

const { TENANT } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { nonceFor, prove, collect, configureFormat: configure, begin: start, issuerKeys } = service;

beforeAll(() => service.open());
afterAll(() => service.remove());

// Last: a call whose answer is lost is recorded with its event, and as a failure.
describe('the index of a credential in its status list [T148]', () => {
  let revocable: string;
  const listId = () => firstListId(TENANT, `jwt ${issuerKeys.get('P-256')!.verificationMethod}`);
  beforeAll(async () => {
    revocable = await configure('jwt_vc_json', 'Revocable', { revocable: true, maxIssuances: 10 });
  });

  const list = async () => {
    const { state } = await service.engines.streams.load(statusList, statusListStream(TENANT, listId()));
    if (state.status !== 'open') throw new Error('the list is not open');
    const secret = await service.engines.vault.sealing.openSealed(TENANT, 'tenant', state.sealedSecret);
    const indexesFrom = (first: number, count: number) =>
      permuteCounters(Buffer.from(secret as string, 'base64url'), state.size, first, count);
    return { ...state, indexesFrom };
  };
  const proofs = async (count: number, nonce: string) => ({
    credential_configuration_id: revocable,
    proofs: { jwt: await Promise.all(Array.from({ length: count }, () => prove(makeWalletKey(), nonce))) },
  });
  const indexesOf = ({ credentials }: ResponseOf<typeof issueCredential>): number[] =>
    credentials.map(({ credential }) => {
      const { status } = decodeJwt<{ status: { status_list: { idx: number } } }>(credential as string);
      return status.status_list.idx;
    });
  const recordedIndexes = async () =>
    (await service.events(issuedCredential.category))
      .map(({ data }) => (data as unknown as CredentialRecordedData).status)
      .filter((status) => status?.listId === listId())
      .map((status) => status!.index);

  /** For the next unit with several streams: the one of a credential. */
  const replaceCommit = (replaced: (unit: UnitOfWork, commit: EventStore['commit']) => Promise<AppendResult>) => {
    const { commit } = service.engines.events;
    service.engines.events.commit = (unit) => {
      if (unit.appends.length === 1) return commit.call(service.engines.events, unit);
      service.engines.events.commit = commit;
      return replaced(unit, commit.bind(service.engines.events));
    };
  };

  it('is given to the next one when the request is refused', async () => {
    const { token } = await start(revocable);
    const used = await proofs(2, await nonceFor());
    const first = indexesOf(await collect(token, used));
    const before = (await list()).next;
    for (let n = 0; n < 50; n++) expect(await refusalCode(collect(token, used))).toBe('invalid_nonce');
    // At the same time, so that the limit refuses them when they are stored.
    const both = await Promise.allSettled(
      [await proofs(8, await nonceFor()), await proofs(8, await nonceFor())].map((body) => collect(token, body)),
    );
    const [second] = both.flatMap((outcome) => (outcome.status === 'fulfilled' ? [indexesOf(outcome.value)] : []));
    const [refused] = both.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as AppError] : []));
    expect(refused).toMatchObject({
      code: 'credential_request_denied',
      message: 'the credential configuration allows no more credentials for this offer',
    });
    expect((await list()).next).toBe(before);
    const other = await start(revocable);
    const third = indexesOf(await collect(other.token, await proofs(10, await nonceFor())));
    const all = [...first, ...second!, ...third];
    // 116 indexes were allocated, of which 20 are used.
    expect(new Set(all)).toEqual(new Set((await list()).indexesFrom(0, 20)));
    expect(await recordedIndexes()).toHaveLength(20);
  });

  it('is never given out again when the credential may be stored', async () => {
    const { token } = await start(revocable);
    const given = await recordedIndexes();
    // The unit is stored, but its answer is lost.
    replaceCommit(async (unit, commit) => {
      await commit(unit);
      throw new EventStoreUnavailable('the answer is lost');
    });
    const lost = await refusal(collect(token, await proofs(5, await nonceFor())));
    expect(lost.kind).toBe('unavailable');
    const stored = await recordedIndexes();
    expect(stored).toHaveLength(given.length + 5);
    const next = indexesOf(await collect(token, await proofs(5, await nonceFor())));
    expect(next.filter((index) => stored.includes(index))).toEqual([]);
  });

  it('is not given out again when a conflict left it in the stream of the credential', async () => {
    const { made, token } = await start(revocable);
    const given = await recordedIndexes();
    const data = { credentialConfigurationId: revocable } as CredentialIssuedData;
    // The store has no transactions, and another process reaches the limit of the session meanwhile.
    replaceCommit(async (unit) => {
      await new Streams(service.engines.events, service.engines.clock, service.engines.ids).runDecision(
        issuanceSession,
        issuanceSessionStream(TENANT, made.id),
        () => Array.from({ length: 10 }, () => ({ type: 'CredentialIssued' as const, data })),
        serviceContext('issuance.spec', TENANT),
      );
      return EventStore.prototype.commit.call(service.engines.events, unit);
    });
    const refused = await refusal(collect(token, await proofs(3, await nonceFor())));
    expect(refused).toMatchObject({ code: 'credential_request_denied' });
    const stored = await recordedIndexes();
    expect(stored).toHaveLength(given.length + 3);
    const other = await start(revocable);
    const next = indexesOf(await collect(other.token, await proofs(10, await nonceFor())));
    expect(next.filter((index) => stored.includes(index))).toEqual([]);
  });
});
