import { describeExpiringState } from './expiring-state.contract.js';
import { TENANT_A as A, TENANT_B as B, useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';
import { describeKeyCheckpoints } from './key-checkpoints.contract.js';
import { KeyNotFound, type KeysDestroyed, type ReplayGuard } from './key-vault.js';
import { describeMacs } from './macs.contract.js';
import { describeSealing } from './sealing.contract.js';
import { ERASED } from './sealing.js';
import { describeSigningKeys } from './signing-keys.contract.js';

/** Behavior of every KeyVault and of each of its ports. Jest's globals are used only when it is called. */
export const describeKeyVault = (adapter: string, create: () => Promise<KeyVaultStore>): void => {
  describeSigningKeys(adapter, create);
  describeSealing(adapter, create);
  describeMacs(adapter, create);
  describeExpiringState(adapter, create);
  describeKeyCheckpoints(adapter, create);

  describe(`KeyVault: ${adapter}`, () => {
    const store = useFreshVault(create);

    describe('tenant purge', () => {
      it('permanently destroys every key of the tenant and no other', async () => {
        const key = await store.vault.signingKeys.createSigningKey(A, 'did', 'P-256');
        await store.vault.sealing.createDataKey(A, 'user', 'u1');
        await store.vault.sealing.createDataKey(B, 'user', 'u1');
        const sealed = await store.vault.sealing.sealText(A, 'user', 'u1', 'text');
        const other = await store.vault.sealing.sealText(B, 'user', 'u1', 'text');
        await store.vault.signingKeys.loadSigner(A, key.keyId);
        await store.vault.destroyTenant(A);
        for (const restart of [false, true]) {
          if (restart) await store.reopen();
          expect(await store.vault.sealing.openSealed(A, 'user', sealed)).toBe(ERASED);
          await expect(store.vault.signingKeys.loadSigner(A, key.keyId)).rejects.toThrow(KeyNotFound);
          expect(await store.vault.signingKeys.listSigningKeys(A, 'did')).toEqual([]);
          await expect(store.vault.signingKeys.createSigningKey(A, 'did', 'P-256')).rejects.toThrow(KeyNotFound);
          await expect(store.vault.signingKeys.ensureSigningKey(A, 'did', 'P-256')).rejects.toThrow(KeyNotFound);
          await expect(store.vault.sealing.createDataKey(A, 'user', 'u2')).rejects.toThrow(KeyNotFound);
          expect(await store.vault.sealing.openSealed(B, 'user', other)).toBe('text');
        }
      });
    });

    describe('evictions', () => {
      it('are reported to listeners until they stop, keys and whole tenants', async () => {
        const reported: KeysDestroyed[] = [];
        const stop = store.vault.onDestroyed((destroyed) => reported.push(destroyed));
        await store.vault.sealing.createDataKey(A, 'user', 'u1');
        await store.vault.sealing.destroyDataKeys(A, ['u1', 'u2']);
        await store.vault.sealing.destroyDataKeys(A, []);
        await store.vault.destroyTenant(B);
        stop();
        await store.vault.sealing.destroyDataKeys(A, ['u3']);
        expect(reported).toEqual([{ tenantId: A, keyIds: ['u1', 'u2'] }, { tenantId: B }]);
      });

      it('received from another process make this vault reload from the store', async () => {
        const another = await store.open();
        try {
          another.onDestroyed(({ tenantId, keyIds }) => store.vault.evict(tenantId, keyIds));
          const key = await store.vault.signingKeys.createSigningKey(A, 'did', 'P-256');
          await store.vault.sealing.createDataKey(A, 'user', 'u1');
          await store.vault.sealing.createDataKey(A, 'user', 'u2');
          const [one, two] = await Promise.all(
            ['u1', 'u2'].map((id) => store.vault.sealing.sealText(A, 'user', id, 'text')),
          );
          await store.vault.signingKeys.loadSigner(A, key.keyId);
          await another.sealing.destroyDataKeys(A, ['u1']);
          await another.signingKeys.destroySigningKeys(A, [key.keyId]);
          expect(await store.vault.sealing.openSealed(A, 'user', one!)).toBe(ERASED);
          await expect(store.vault.signingKeys.loadSigner(A, key.keyId)).rejects.toThrow(KeyNotFound);
          expect(await store.vault.sealing.openSealed(A, 'user', two!)).toBe('text');
          await another.destroyTenant(A);
          expect(await store.vault.sealing.openSealed(A, 'user', two!)).toBe(ERASED);
        } finally {
          await another.close();
        }
      });
    });

    it('rejects after it was closed', async () => {
      await store.vault.close();
      await expect(store.vault.sealing.createDataKey(A, 'user', 'u1')).rejects.toThrow();
      store.vault = await store.open();
    });
  });
};

export interface ReplayGuardStore {
  /** With the store's own clock, which the suite turns. */
  open(clock: () => Date): Promise<ReplayGuard>;
  remove(): Promise<void>;
}

/** Behavior of every ReplayGuard. */
export const describeReplayGuard = (adapter: string, create: () => Promise<ReplayGuardStore>): void => {
  describe(`ReplayGuard: ${adapter}`, () => {
    let store: ReplayGuardStore;
    let guard: ReplayGuard;
    let now: number;
    const clock = () => new Date(now);
    const inSeconds = (seconds: number) => new Date(now + seconds * 1000);
    const spend = (scope: string, value: string, expiresAt: Date, by = guard) =>
      by.spendAll(A, [{ scope, value, expiresAt }]);

    beforeEach(async () => {
      now = Date.UTC(2030, 0, 1);
      store = await create();
      guard = await store.open(clock);
    });
    afterEach(async () => {
      await guard.close();
      await store.remove();
    });

    it('accepts a value once per scope, also after a restart', async () => {
      const until = inSeconds(300);
      expect(await spend('nonce', 'v', until)).toBe(true);
      expect(await spend('nonce', 'v', until)).toBe(false);
      expect(await spend('proof', 'v', until)).toBe(true);
      expect(await spend('nonc', 'ev', until)).toBe(true);
      await guard.close();
      guard = await store.open(clock);
      expect(await spend('nonce', 'v', until)).toBe(false);
    });

    it('returns true to exactly one of several concurrent callers, over two connections', async () => {
      const other = await store.open(clock);
      try {
        const until = inSeconds(300);
        const outcomes = await Promise.all(
          Array.from({ length: 400 }, async (_, i) => {
            const value = `v${i % 40}`;
            return { value, spent: await spend('nonce', value, until, i % 3 ? guard : other) };
          }),
        );
        const won = outcomes.filter((outcome) => outcome.spent).map((outcome) => outcome.value);
        expect(won.sort()).toEqual(Array.from({ length: 40 }, (_, i) => `v${i}`).sort());
      } finally {
        await other.close();
      }
    });

    it('spends all values or none', async () => {
      const until = inSeconds(300);
      const named = (...values: string[]) => values.map((value) => ({ scope: 'nonce', value, expiresAt: until }));
      expect(await guard.spendAll(A, named('a', 'b', 'c'))).toBe(true);
      expect(await guard.spendAll(A, named('d', 'b'))).toBe(false);
      expect(await guard.spendAll(A, [...named('d'), { scope: 'nonce', value: 'e', expiresAt: inSeconds(0) }])).toBe(
        false,
      );
      expect(await guard.spendAll(A, named('d', 'd'))).toBe(false);
      expect(await guard.spendAll(A, [])).toBe(true);
      expect(await guard.spendAll(A, named('d', 'e'))).toBe(true);
      for (const value of ['a', 'b', 'c', 'd', 'e']) expect(await spend('nonce', value, until)).toBe(false);
    });

    it('returns true to exactly one of several concurrent callers whose values overlap', async () => {
      const other = await store.open(clock);
      try {
        const expiresAt = inSeconds(300);
        const outcomes = await Promise.all(
          Array.from({ length: 60 }, async (_, i) => {
            // In either order: neither half of a pair may go to another caller.
            const pair = [`l${i % 20}`, `r${i % 20}`].map((value) => ({ scope: 'nonce', value, expiresAt }));
            return (i % 3 ? guard : other).spendAll(A, i % 2 ? pair : pair.reverse());
          }),
        );
        expect(outcomes.filter(Boolean)).toHaveLength(20);
      } finally {
        await other.close();
      }
    });

    it('keeps the values of tenants apart', async () => {
      const values = [{ scope: 'nonce', value: 'v', expiresAt: inSeconds(300) }];
      expect(await guard.spendAll(A, values)).toBe(true);
      expect(await guard.spendAll(B, values)).toBe(true);
      expect(await guard.spendAll(B, values)).toBe(false);
    });

    it('spends one value of a refused unit nevertheless, and tells whether it was used before', async () => {
      const valueOf = (value: string) => ({ scope: 'nonce', value, expiresAt: inSeconds(300) });
      const used = () => new Error('used');
      const spending = (always: string, ...values: string[]) =>
        guard.spending(A, values.map(valueOf), used, valueOf(always));
      const whole = spending('proof 1', 'n1', 'n2');
      await whole.store();
      await whole.store();
      expect(await spend('nonce', 'proof 1', inSeconds(300))).toBe(false);
      // The unit has spent it.
      expect(await whole.spendAlways()).toBe(true);

      const refused = spending('proof 2', 'n3', 'n1');
      await expect(refused.store()).rejects.toEqual(used());
      await expect(refused.store()).rejects.toEqual(used());
      expect(await refused.spendAlways()).toBe(true);
      expect(await spend('nonce', 'proof 2', inSeconds(300))).toBe(false);
      // The others are spent all or none.
      expect(await spend('nonce', 'n3', inSeconds(300))).toBe(true);

      const repeated = spending('proof 2', 'n4');
      await expect(repeated.store()).rejects.toEqual(used());
      expect(await repeated.spendAlways()).toBe(false);
      expect(await spend('nonce', 'n4', inSeconds(300))).toBe(true);

      // Refused before anything was spent.
      expect(await spending('proof 3', 'n5').spendAlways()).toBe(true);
      expect(await spend('nonce', 'n5', inSeconds(300))).toBe(true);
      expect(await spending('proof 3').spendAlways()).toBe(false);
      expect(await guard.spending(A, [valueOf('n6')], used).spendAlways()).toBe(true);
      expect(await spend('nonce', 'n6', inSeconds(300))).toBe(true);
    });

    it('refuses an expired value, whether it was spent or not', async () => {
      const until = inSeconds(10);
      expect(await spend('nonce', 'spent', until)).toBe(true);
      now += 10_000;
      expect(await spend('nonce', 'spent', until)).toBe(false);
      expect(await spend('nonce', 'fresh', until)).toBe(false);
    });

    it('accepts a value again after its expiry, with a new lifetime', async () => {
      expect(await spend('jti', 'v', inSeconds(10))).toBe(true);
      expect(await spend('jti', 'v', inSeconds(60))).toBe(false);
      now += 10_000;
      expect(await spend('jti', 'v', inSeconds(10))).toBe(true);
    });

    it('refuses an invalid date and rejects after it was closed', async () => {
      await expect(spend('nonce', 'v', new Date(NaN))).rejects.toThrow(new RangeError('expiresAt is not a date'));
      await guard.close();
      await expect(spend('nonce', 'v', inSeconds(5))).rejects.toThrow();
    });
  });
};
