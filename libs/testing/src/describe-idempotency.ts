import { IDEMPOTENCY_TTL_MS } from '@attestry/contracts';
import { EventStoreUnavailable, type UnitOfWork } from '@attestry/event-store';
import { KeyVaultUnavailable } from '@attestry/keys';
import type { ServiceUnderTest } from './service-under-test.js';

export interface IdempotentCallOptions {
  /** The `Idempotency-Key`. */
  key: string;
  /** The caller; default `one`. */
  by?: string;
  /** The same operation with another body. */
  other?: boolean;
}

export interface Repeatable {
  service: ServiceUnderTest;
  /** Category of the stream of the resource, and type of the event that creates it. */
  category: string;
  made: string;
  /** The calls about one new thing; `other` makes another one. */
  thing: () => (call: IdempotentCallOptions) => Promise<unknown>;
}

const kindOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    (error: unknown) => (error as { kind?: string }).kind ?? String(error),
  );

/** Behavior of every idempotent operation (ADR 0036). Jest's globals are used only when it is called. */
export const describeIdempotency = (operation: string, { service, category, made, thing }: Repeatable): void => {
  describe(`${operation} with an Idempotency-Key`, () => {
    let serial = 0;
    const newKey = () => `"key-${++serial}"`;
    const count = async (): Promise<number> =>
      (await service.events(category)).filter(({ type }) => type === made).length;
    const madeBy = async (work: () => Promise<void>): Promise<number> => {
      const before = await count();
      await work();
      return (await count()) - before;
    };
    const isOurs = ({ appends }: UnitOfWork) => appends.some(({ stream }) => stream.startsWith(`${category}-`));
    /** Replaces one method of the port until it is restored. */
    const faulty = <Port extends object, Method extends keyof Port>(
      port: Port,
      method: Method,
      instead: (original: Port[Method]) => Port[Method],
    ): (() => void) => {
      const original = (port[method] as (...args: unknown[]) => unknown).bind(port) as Port[Method];
      port[method] = instead(original);
      return () => void Reflect.deleteProperty(port, method);
    };

    it('returns the first result again and creates nothing', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        const first = await call({ key });
        service.ahead += IDEMPOTENCY_TTL_MS - 1;
        expect(await call({ key })).toEqual(first);
        expect(await call({ key })).toEqual(first);
      });
      expect(created).toBe(1);
    });

    it('creates one resource when the store accepted it and answered 503', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        const restore = faulty(service.engines.events, 'commit', (commit) => async (unit) => {
          const stored = await commit(unit);
          if (isOurs(unit)) throw new EventStoreUnavailable('lost after the append');
          return stored;
        });
        expect(await kindOf(call({ key }))).toBe('unavailable');
        restore();
        const result = await call({ key });
        expect(await call({ key })).toEqual(result);
      });
      expect(created).toBe(1);
    });

    it('creates the resource when the store did not accept it the first time', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        const restore = faulty(service.engines.events, 'commit', (commit) => async (unit) => {
          if (isOurs(unit)) throw new EventStoreUnavailable('away');
          return commit(unit);
        });
        expect(await kindOf(call({ key }))).toBe('unavailable');
        restore();
        const result = await call({ key });
        expect(await call({ key })).toEqual(result);
      });
      expect(created).toBe(1);
    });

    it('returns the same result after a process ended before it stored the response', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        let writes = 0;
        const restore = faulty(service.engines.vault.expiringState, 'write', (write) => async (...args) => {
          if (args[1].startsWith('call ') && ++writes > 1) throw new KeyVaultUnavailable('the process is gone');
          return write(...args);
        });
        const first = await call({ key });
        restore();
        expect(await kindOf(call({ key }))).toBe('conflict');
        service.ahead += 60_000;
        expect(await call({ key })).toEqual(first);
        expect(await call({ key })).toEqual(first);
      });
      expect(created).toBe(1);
    });

    it('is a 409 while the first call is in progress, and concurrent calls create one resource', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        const outcomes = await Promise.all(Array.from({ length: 5 }, () => kindOf(call({ key }))));
        expect(outcomes.filter((outcome) => outcome === 'answered').length).toBeGreaterThan(0);
        expect(outcomes.filter((outcome) => !['answered', 'conflict'].includes(outcome))).toEqual([]);
      });
      expect(created).toBe(1);
    });

    it('is a 422 with another body, naming the header', async () => {
      const call = thing();
      const key = newKey();
      const created = await madeBy(async () => {
        await call({ key });
        await expect(call({ key, other: true })).rejects.toMatchObject({
          kind: 'unprocessable',
          code: 'UnprocessableContent',
          details: [{ param: 'Idempotency-Key', location: 'headers' }],
        });
      });
      expect(created).toBe(1);
    });

    it('is separate for each caller', async () => {
      const call = thing();
      const key = newKey();
      await call({ key });
      const created = await madeBy(async () => {
        await call({ key, by: 'two', other: true });
      });
      expect(created).toBe(1);
    });

    it('is deleted after 24 hours', async () => {
      const call = thing();
      const key = newKey();
      await call({ key });
      service.ahead += IDEMPOTENCY_TTL_MS;
      const created = await madeBy(async () => {
        await call({ key, other: true });
      });
      expect(created).toBe(1);
    });

    it('is 1 to 255 visible ASCII characters', async () => {
      for (const key of ['', ' ', 'a b', 'ä', 'x'.repeat(256)])
        await expect(thing()({ key })).rejects.toMatchObject({
          kind: 'invalid',
          details: [{ param: 'Idempotency-Key', location: 'headers' }],
        });
      await thing()({ key: 'y'.repeat(255) });
    });
  });
};
