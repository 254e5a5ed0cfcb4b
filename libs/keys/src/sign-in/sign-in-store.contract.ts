import type { SignInStore } from './sign-in-store.js';

/** One fresh store; `open` may be called again after a close and then finds what was stored. */
export interface SignInStoreUnderTest {
  /** With a clock that the suite turns. */
  open(clock: () => Date): Promise<SignInStore>;
  remove(): Promise<void>;
}

/** Behavior of every SignInStore. Jest's globals are used only when it is called. */
export const describeSignInStore = (adapter: string, create: () => Promise<SignInStoreUnderTest>): void => {
  let subject: SignInStoreUnderTest;
  let store: SignInStore;
  let now: number;
  const open = async () => (store = await subject.open(() => new Date(now)));
  const reopen = async () => {
    await store.close();
    await open();
  };
  const put = (key: string, over: object = {}) =>
    store.records.put({ kind: 'Session', key, sealed: `sealed ${key}`, expiresAt: new Date(now + 60_000), ...over });
  const setUp = async () => {
    now = Date.UTC(2030, 0, 1);
    subject = await create();
    await open();
  };
  const tearDown = async () => {
    await store.close();
    await subject.remove();
  };

  describe(`SignInRecords: ${adapter}`, () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it('stores records by key and alias, separately per kind, also after a restart', async () => {
      await put('one', { alias: 'uid-one' });
      await put('one', { kind: 'Grant', sealed: 'another' });
      await reopen();
      const { records } = store;
      expect(await records.get('Session', 'one')).toEqual({ sealed: 'sealed one' });
      expect(await records.getByAlias('Session', 'uid-one')).toEqual({ sealed: 'sealed one' });
      expect(await records.get('Grant', 'one')).toEqual({ sealed: 'another' });
      expect(await records.get('Session', 'uid-one')).toBeUndefined();
      // The boundary between kind and key cannot be moved.
      expect(await records.get('Sessio', 'none')).toBeUndefined();
      expect(await records.getByAlias('Sessionu', 'id-one')).toBeUndefined();
      expect(await records.getByAlias('Grant', 'uid-one')).toBeUndefined();
      await put('one', { sealed: 'replaced' });
      expect(await records.get('Session', 'one')).toEqual({ sealed: 'replaced' });
      expect(await records.getByAlias('Session', 'uid-one')).toBeUndefined();
    });

    it('expires each to the millisecond', async () => {
      await put('one');
      now += 59_999;
      expect(await store.records.get('Session', 'one')).toBeDefined();
      now += 1;
      expect(await store.records.get('Session', 'one')).toBeUndefined();
      expect(await store.records.spend('Session', 'one')).toBe(false);
    });

    it('is spent by exactly one of many', async () => {
      const { records } = store;
      await put('code');
      const spent = await Promise.all(Array.from({ length: 20 }, () => records.spend('Session', 'code')));
      expect(spent.filter(Boolean)).toHaveLength(1);
      expect(await records.get('Session', 'code')).toEqual({ sealed: 'sealed code', spentAt: now });
      // A record that is replaced stays spent.
      await put('code', { sealed: 'later' });
      expect(await records.get('Session', 'code')).toEqual({ sealed: 'later', spentAt: now });
      expect(await records.spend('Session', 'unknown')).toBe(false);
    });

    it('is removed by itself or with its group', async () => {
      const { records } = store;
      await put('a', { group: 'g' });
      await put('b', { group: 'g', kind: 'AccessToken' });
      await put('c', { group: 'h' });
      await put('d');
      await records.remove('Session', 'd');
      await records.removeGroup('g');
      expect(await records.get('Session', 'd')).toBeUndefined();
      expect(await records.get('Session', 'a')).toBeUndefined();
      expect(await records.get('AccessToken', 'b')).toBeUndefined();
      expect(await records.get('Session', 'c')).toBeDefined();
    });
  });

  describe(`SignInAttempts: ${adapter}`, () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it('counts in a window that starts with the first attempt, also over a restart', async () => {
      const end = new Date(now + 1000);
      expect(await store.attempts.count('account', 'ada', 1000)).toEqual({ used: 1, endsAt: end });
      now += 500;
      await reopen();
      const { attempts } = store;
      expect(await attempts.count('account', 'ada', 1000)).toEqual({ used: 2, endsAt: end });
      expect((await attempts.count('account', 'grace', 1000)).used).toBe(1);
      now += 500;
      expect((await attempts.count('account', 'ada', 1000)).used).toBe(1);
    });

    it('reverts an attempt of the current window, and never more than were counted', async () => {
      const { attempts } = store;
      await attempts.count('account', 'ada', 1000);
      await attempts.count('account', 'ada', 1000);
      await attempts.takeBack('account', 'ada');
      expect((await attempts.count('account', 'ada', 1000)).used).toBe(2);
      for (let n = 0; n < 5; n++) await attempts.takeBack('account', 'ada');
      await attempts.takeBack('account', 'grace');
      expect((await attempts.count('account', 'ada', 1000)).used).toBe(1);
      expect((await attempts.count('account', 'grace', 1000)).used).toBe(1);
    });
  });
};
