import { useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Behavior of every Macs. */
export const describeMacs = (adapter: string, create: () => Promise<KeyVaultStore>): void => {
  describe(`Macs: ${adapter}`, () => {
    const store = useFreshVault(create);
    const macs = () => store.vault.macs;

    it('verify only for the same secret and context, also after a restart', async () => {
      const mac = macs().mac('1234', 'offer-1');
      const bare = macs().mac('1234');
      expect(mac.mac).toMatch(/^[A-Za-z0-9_-]{43}$/);
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        expect(macs().verifyMac('1234', mac, 'offer-1')).toBe(true);
        expect(macs().verifyMac('1234', bare)).toBe(true);
        expect(macs().verifyMac('1235', mac, 'offer-1')).toBe(false);
        expect(macs().verifyMac('1234', mac, 'offer-2')).toBe(false);
        expect(macs().verifyMac('1234', mac)).toBe(false);
        expect(macs().verifyMac('1234', bare, '')).toBe(false);
      }
    });

    it('distinguish secret and context, and refuse a malformed MAC or an unknown pepper', () => {
      expect(macs().verifyMac('234', macs().mac('34', 'offer-12'), 'offer-1')).toBe(false);
      const mac = macs().mac('secret');
      expect(macs().verifyMac('secret', { ...mac, mac: '' })).toBe(false);
      expect(macs().verifyMac('secret', { ...mac, mac: mac.mac.slice(0, 20) })).toBe(false);
      // 32 bytes are 43 characters: the last two bits of the last one mean nothing to a decoder.
      const last = ALPHABET.indexOf(mac.mac.at(-1)!);
      for (const respelled of [mac.mac.slice(0, -1) + ALPHABET[last ^ 1], `${mac.mac}=`, `${mac.mac} `])
        expect(macs().verifyMac('secret', { ...mac, mac: respelled })).toBe(false);
      expect(macs().verifyMac('secret', { ...mac, pepper: 'unknown' })).toBe(false);
    });
  });
};
