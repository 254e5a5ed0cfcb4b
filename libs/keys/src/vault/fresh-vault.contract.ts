import type { KeyVault } from './key-vault.js';

/** One fresh store; `open` may be called again after a close and then finds what was stored. */
export interface KeyVaultStore {
  open(): Promise<KeyVault>;
  remove(): Promise<void>;
}

export const TENANT_A = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const TENANT_B = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

export interface FreshVault {
  vault: KeyVault;
  /** Another process would open it the same way. */
  open(): Promise<KeyVault>;
  reopen(): Promise<void>;
}

/** A vault over a fresh store for each test of the surrounding suite. */
export const useFreshVault = (create: () => Promise<KeyVaultStore>): FreshVault => {
  let store: KeyVaultStore;
  const fresh: FreshVault = {
    vault: undefined as unknown as KeyVault,
    open: () => store.open(),
    async reopen() {
      await fresh.vault.close();
      fresh.vault = await store.open();
    },
  };
  beforeEach(async () => {
    store = await create();
    fresh.vault = await store.open();
  });
  afterEach(async () => {
    await fresh.vault.close();
    await store.remove();
  });
  return fresh;
};
