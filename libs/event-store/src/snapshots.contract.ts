import type { Snapshot, Snapshots } from './snapshots.js';

export interface SnapshotsUnderTest {
  snapshots: Snapshots;
  /** Opens the same ones again. */
  reopen(): Promise<Snapshots>;
  close(): Promise<void>;
}

/** Behavior of every adapter of {@link Snapshots}. */
export const describeSnapshots = (adapter: string, open: () => Promise<SnapshotsUnderTest>): void =>
  describe(`snapshots: ${adapter}`, () => {
    let subject: SnapshotsUnderTest;
    let snapshots: Snapshots;
    beforeAll(async () => {
      subject = await open();
      snapshots = subject.snapshots;
    }, 60_000);
    afterAll(() => subject?.close());

    const at = (revision: number, over: Partial<Snapshot> = {}): Snapshot => ({
      revision,
      chain: `chain of ${revision}`,
      stateVersion: 'v1',
      state: Uint8Array.from([0, 255, revision % 256]),
      ...over,
    });
    const read = async (stream: string): Promise<Snapshot | undefined> => {
      const found = await snapshots.read(stream);
      // Buffers are Uint8Arrays: only the bytes count.
      return found && { ...found, state: Uint8Array.from(found.state) };
    };

    it('has none of an unknown stream', async () => {
      expect(await read('account-t+none')).toBeUndefined();
    });

    it('returns the written snapshot of each stream, also when reopened', async () => {
      const large = at(7, { state: new Uint8Array(3 * 1024 * 1024).fill(7) });
      await snapshots.write('account-t+a', at(600));
      await snapshots.write('account-t+b', large);
      snapshots = await subject.reopen();
      expect(await read('account-t+a')).toEqual(at(600));
      expect(await read('account-t+b')).toEqual(large);
    });

    it('keeps the highest revision of one state version', async () => {
      const stream = 'account-t+c';
      for (const revision of [600, 500, 600]) await snapshots.write(stream, at(revision));
      expect(await read(stream)).toEqual(at(600));
      await Promise.all([900, 1200, 700, 1100].map((revision) => snapshots.write(stream, at(revision))));
      expect(await read(stream)).toEqual(at(1200));
    });

    it('accepts one of another state version at any revision', async () => {
      const stream = 'account-t+d';
      await snapshots.write(stream, at(600));
      await snapshots.write(stream, at(20, { stateVersion: 'v2' }));
      expect(await read(stream)).toEqual(at(20, { stateVersion: 'v2' }));
    });
  });
