import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Snapshot } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import { AuthenticSnapshots } from './authentic-snapshots.js';

/** MACs as the vault makes them, under any key. */
const vaultWith = (key: string) => {
  const macOf = (secret: string, context?: string) => createHmac('sha256', key).update(`${context}:${secret}`).digest();
  return {
    mac: (secret: string, context?: string): SecretMac => ({
      pepper: 'p1',
      mac: macOf(secret, context).toString('hex'),
    }),
    verifyMac: (secret: string, { mac }: SecretMac, context?: string) => {
      const given = Buffer.from(mac, 'hex');
      return given.length === 32 && timingSafeEqual(given, macOf(secret, context));
    },
  };
};

describe('AuthenticSnapshots', () => {
  const stored = new Map<string, Snapshot>();
  const inner = {
    read: async (stream: string) => stored.get(stream),
    write: async (stream: string, snapshot: Snapshot) => void stored.set(stream, snapshot),
  };
  const snapshots = new AuthenticSnapshots(inner, vaultWith('ours'));
  const snapshot: Snapshot = { revision: 600, chain: 'c', stateVersion: 'v1', state: Uint8Array.from([1, 2, 3]) };
  beforeEach(() => snapshots.write('tenant-a', snapshot));

  it('returns the snapshot that it wrote', async () => {
    const found = await snapshots.read('tenant-a');
    expect({ ...found, state: Uint8Array.from(found!.state) }).toEqual(snapshot);
    expect(await snapshots.read('tenant-b')).toBeUndefined();
  });

  it.each<[string, (whole: Snapshot) => Snapshot]>([
    ['state', (it) => ({ ...it, state: Buffer.concat([it.state.subarray(0, -1), Buffer.from([9])]) })],
    ['length', (it) => ({ ...it, state: it.state.subarray(0, 20) })],
    ['form', (it) => ({ ...it, state: Uint8Array.from([0]) })],
    ['revision', (it) => ({ ...it, revision: 601 })],
    ['chain value', (it) => ({ ...it, chain: 'd' })],
    ['state version', (it) => ({ ...it, stateVersion: 'v2' })],
  ])('refuses a snapshot whose %s was changed', async (_, change) => {
    stored.set('tenant-a', change(stored.get('tenant-a')!));
    expect(await snapshots.read('tenant-a')).toBeUndefined();
  });

  it('refuses that of another stream and one with the MAC of another key', async () => {
    stored.set('tenant-b', stored.get('tenant-a')!);
    expect(await snapshots.read('tenant-b')).toBeUndefined();
    expect(await new AuthenticSnapshots(inner, vaultWith('theirs')).read('tenant-a')).toBeUndefined();
  });
});
