import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSignInStore } from '../sign-in/sign-in-store.contract.js';
import { describeKeyVault, describeReplayGuard } from '../vault/keys.contract.js';
import { EmbeddedKeyVault } from './embedded-key-vault.js';
import { EmbeddedReplayGuard } from './embedded-replay-guard.js';
import { EmbeddedSignInStore } from './embedded-sign-in-store.js';

describeKeyVault('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const current = { version: 1, key: new Uint8Array(32).fill(7) };
  return {
    open: () => EmbeddedKeyVault.openFile({ file: join(folder, 'keys.db'), masterKeys: { current } }),
    remove: () => rm(folder, { recursive: true }),
  };
});

describeReplayGuard('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'replay-'));
  return {
    open: (clock) => EmbeddedReplayGuard.openFile({ file: join(folder, 'replay.db'), clock }),
    remove: () => rm(folder, { recursive: true }),
  };
});

describeSignInStore('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sign-in-'));
  return {
    open: (clock) => EmbeddedSignInStore.openFile({ file: join(folder, 'sign-in.db'), clock }),
    remove: () => rm(folder, { recursive: true }),
  };
});
