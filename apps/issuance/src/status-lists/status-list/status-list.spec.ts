import fc from 'fast-check';
import { given, stateAfter } from '@attestry/event-store';
import { blockSize, checkOpenLists, claimBlock, openList } from './status-list.decisions.js';
import type { OpenedList, StatusListEvent } from './status-list.events.js';
import { statusList, statusListStream } from './status-list.state.js';

const now = new Date('2026-01-01T00:00:00Z');
const at = now.toISOString();
const list: OpenedList = {
  listId: 'l1',
  tokenType: 'jwt',
  signer: { kind: 'issuerSigner', issuer: 'https://acme.example' },
  size: 131_072,
  bits: 2,
  uri: 'https://acme.example/v2/credentials/status-lists/l1/token',
  sealedSecret: 'v1.l1.iv.text',
};
const openedWith = (size: number): StatusListEvent => ({
  type: 'StatusListOpened',
  data: { ...list, size, openedAt: at },
});
const opened = openedWith(list.size);
const claimed = (first: number, count: number): StatusListEvent => ({
  type: 'StatusIndexesClaimed',
  data: { first, count, claimedAt: at },
});
const named = (listId: string): StatusListEvent => ({ type: 'StatusListSuccessorNamed', data: { listId } });

describe('a status list', () => {
  it('is opened once', () => {
    given(statusList, [])
      .when((state) => openList(state, list, now))
      .then([opened]);
    given(statusList, [opened])
      .when((state) => openList(state, { ...list, sealedSecret: 'v1.l1.iv.other' }, now))
      .then([]);
    expect(statusListStream('t1', 'l1')).toBe('statusList-t1+l1');
  });

  it('is one of 1000 open ones of a tenant, unless the series has one already [T197]', () => {
    const text = 'A tenant can have at most 1000 open status lists, and this configuration needs another one';
    for (const first of [undefined, stateAfter(statusList, [])]) {
      expect(() => checkOpenLists(first, 999)).not.toThrow();
      expect(() => checkOpenLists(first, 1000)).toThrow(text);
    }
    expect(() => checkOpenLists(stateAfter(statusList, [opened]), 1000)).not.toThrow();
  });

  it('gives each claim the next counters', () => {
    given(statusList, [opened])
      .when((state) => claimBlock(state, { count: 64, successorId: 'l2' }, now))
      .then([claimed(0, 64)]);
    given(statusList, [opened, claimed(0, 64)])
      .when((state) => claimBlock(state, { count: 100, successorId: 'l2' }, now))
      .thenState({ status: 'open', ...list, next: 164 });
    given(statusList, [])
      .when((state) => claimBlock(state, { count: 64, successorId: 'l2' }, now))
      .thenThrows('NotFound');
  });

  it('names its successor once, when an eighth is left', () => {
    const used = claimed(0, 114_688 - 1024);
    given(statusList, [opened, used])
      .when((state) => claimBlock(state, { count: 1023, successorId: 'l2' }, now))
      .then([claimed(113_664, 1023)]);
    given(statusList, [opened, used])
      .when((state) => claimBlock(state, { count: 1024, successorId: 'l2' }, now))
      .then([claimed(113_664, 1024), named('l2')]);
    given(statusList, [opened, used, claimed(113_664, 1024), named('l2')])
      .when((state) => claimBlock(state, { count: 64, successorId: 'l3' }, now))
      .thenState({ status: 'open', ...list, next: 114_752, successorId: 'l2' });
  });

  it('names its successor early enough for two of the largest blocks, however small it is', () =>
    given(statusList, [openedWith(4096), claimed(0, 1984)])
      .when((state) => claimBlock(state, { count: 64, successorId: 'l2' }, now))
      .then([claimed(1984, 64), named('l2')]));

  it('ends with a smaller block, and then has no counters', () => {
    const last = [opened, claimed(0, 131_000), named('l2')];
    given(statusList, last)
      .when((state) => claimBlock(state, { count: 1024, successorId: 'l3' }, now))
      .then([claimed(131_000, 72)]);
    given(statusList, [...last, claimed(131_000, 72)])
      .when((state) => claimBlock(state, { count: 64, successorId: 'l3' }, now))
      .then([]);
  });

  it('gives every counter to one claim, and names a successor before the last one', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.integer({ min: 64, max: 1024 }), { minLength: 80, maxLength: 80 }),
        (size, counts) => {
          const events: StatusListEvent[] = [openedWith(size)];
          for (const count of counts)
            events.push(...claimBlock(stateAfter(statusList, events), { count, successorId: 'l2' }, now));
          const counters = events.flatMap((event) =>
            event.type === 'StatusIndexesClaimed'
              ? Array.from({ length: event.data.count }, (_, i) => event.data.first + i)
              : [],
          );
          expect(counters).toEqual(Array.from({ length: size }, (_, i) => i));
          expect(stateAfter(statusList, events)).toMatchObject({ next: size, successorId: 'l2' });
          expect(events.filter(({ type }) => type === 'StatusListSuccessorNamed')).toHaveLength(1);
        },
      ),
      { numRuns: 50 },
    ));
});

describe('the size of a block', () => {
  it.each([
    ['a first block', undefined, 64],
    ['64 in a minute', [64, 60_000], 64],
    ['64 in 10 seconds', [64, 10_000], 64],
    ['64 in 5 seconds', [64, 5000], 128],
    ['100 in 3 seconds', [100, 3000], 334],
    ['1,024 in 10 seconds', [1024, 10_000], 1024],
    ['1,024 in a second', [1024, 1000], 1024],
    ['64 at once', [64, 0], 1024],
    ['64 before a clock that was set back', [64, -5000], 1024],
  ] as [string, [number, number] | undefined, number][])('lasts ten seconds, from 64 to 1,024: %s', (_, used, size) => {
    const before = used && { count: used[0], since: new Date(now.getTime() - used[1]) };
    expect(blockSize(before, now)).toBe(size);
  });
});
