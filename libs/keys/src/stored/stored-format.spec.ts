import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedKeyVault, openKeyFile } from '../embedded/embedded-key-vault.js';
import type { StoredKey } from './key-store.js';
import { PLATFORM } from '../vault/key-vault.js';
import type { StoredKeyVault } from './stored-key-vault.js';

// Rows, a sealed value and MACs that a vault wrote before under the MASTER_KEY of 32 bytes 0x01.
const tenantId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const ES = '00000000-0000-4000-8000-000000000001';
const ED = '00000000-0000-4000-8000-000000000002';
const kept = (sealed: string, more: Partial<StoredKey> = {}): StoredKey => ({
  ...{ tenantId, id: '', purpose: '', live: true, sealed: Buffer.from(sealed, 'base64') },
  ...more,
});
const signing = (id: string, algorithm: string, publicJwk: string, sealed: string): StoredKey =>
  kept(sealed, { id, purpose: 'did', algorithm, publicJwk, createdAt: '2026-11-22T20:00:00.000Z' });
const pepper = 'AAAAAWhijTxjZVZoxwC8zDxDFO1Mrz3EyzQ/k1eQDJCN4hLK1yFk+LBlIgo8Men81AaeaTgmuuLPIFUoxuMWZw==';
const tenantKey = kept('AAAAAQfCEuNeY9Gz8OqhCJZT1/2ulcR+kAWoXi9bSfn7Tsz2dP8VrbQKrE7ORutmox+gTFhQM2zuOOUUPPybQQ==');
/** Under the name x. */
const expiring = 'KJHIFeYejAaqxURUjMrr50tXFMBT6O7eROYj47/9P61/PtU=';
const dataKey = kept('JITw2AvnIaUr+cArq8Y313O3JFn+edajg9xGkl+uS+hnlDDpQPYYiAI2Kr+NTc8z8cXV8vjoyw3jqDP5', {
  id: 'u.1',
  purpose: 'user',
});
const signingKeys = [
  signing(
    ES,
    'P-256',
    '{"kty":"EC","x":"jpVpOpwn18gRWVi4k79X-aGg-HqluBKe7dCt9wBgp98","y":"UwpnDazhzPUm942Zkkhagy72p0f81B3CL4YPftwvfjg","crv":"P-256"}',
    'jQ/O7lgH8M9nXYk7saYKAANnIuRWR2p5QO10ZTGxHV735O6SIqmajcWLCPGocG77BnHLW9z//cdjz9Q1',
  ),
  signing(
    ED,
    'Ed25519',
    '{"kty":"OKP","crv":"Ed25519","x":"HmWcI1BkDTmeqANSqdVZSWASXfgWAQiMJjQEzGqGYD0"}',
    'ImpdnsUM0JmIuP58IxjnOv2uB7Lc3rS5l6h9XlxrOn5J1j+loNJ6jeHYPyJ3HmmrhUCyAEH/iUpradXb',
  ),
];

describe('the format of stored keys', () => {
  let folder: string;
  let vault: StoredKeyVault;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keys-'));
    const file = join(folder, 'keys.db');
    const store = await openKeyFile(file);
    await store.call('putPepper', { id: 'p1', wrapped: Buffer.from(pepper, 'base64') });
    await store.call('keepKeys', { table: 'tenant_keys', add: [tenantKey], destroy: [] });
    await store.call('keepKeys', { table: 'data_keys', add: [dataKey], destroy: [] });
    await store.call('keepKeys', { table: 'signing_keys', add: signingKeys, destroy: [] });
    await store.close();
    const current = { version: 1, key: new Uint8Array(32).fill(1) };
    vault = await EmbeddedKeyVault.openFile({ file, masterKeys: { current } });
  });
  afterAll(async () => {
    await vault.close();
    await rm(folder, { recursive: true });
  });

  it('signing keys sign, and their public keys match', async () => {
    const data = Buffer.from('signed');
    const [es, ed] = await Promise.all([ES, ED].map((id) => vault.signingKeys.loadSigner(tenantId, id)));
    expect(verify('sha256', data, { key: es!.publicKey, dsaEncoding: 'ieee-p1363' }, es!.sign(data))).toBe(true);
    expect(verify(null, data, ed!.publicKey, ed!.sign(data))).toBe(true);
  });

  it("the platform's keys have the same owner", () => expect(PLATFORM).toBe('platform'));

  it('sealed values decrypt', async () => {
    const sealed = 'v1.u.1.xYD9BxPxYCBv3P3G.jD0jpbno2NL3W6Nz0zYnbb1vQNLUJPs';
    expect(await vault.sealing.openSealed(tenantId, 'user', sealed)).toBe('ä text');
  });

  it('expiring state opens, and only under its name', async () => {
    const store = await openKeyFile(join(folder, 'keys.db'));
    const sealed = Buffer.from(expiring, 'base64');
    for (const name of ['x', 'y'])
      await store.call('writeExpiring', {
        tenant: tenantId,
        name,
        version: 'v',
        expiresAt: 1,
        sealed,
        after: undefined,
      });
    await store.close();
    expect(await vault.expiringState.read(tenantId, 'x')).toEqual({ text: 'ä text', version: 'v', expiresAt: 1 });
    await expect(vault.expiringState.read(tenantId, 'y')).rejects.toThrow('the seal of expiring state is broken');
  });

  it('MACs are the same', () => {
    expect(vault.macs.mac('1234')).toEqual({ pepper: 'p1', mac: '37WnNFjFQ--8_0V8jHmJdIZhZMfu9tPFnphUgnF5xXM' });
    const bound = { pepper: 'p1', mac: 'LW8hXOru3YymmUfhslPi3mRsj34qtZiOCYrhSoDlGJs' };
    expect(vault.macs.mac('1234', 'offer-1')).toEqual(bound);
    expect(vault.macs.verifyMac('1234', bound, 'offer-1')).toBe(true);
  });
});
