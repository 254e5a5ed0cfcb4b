import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeTenantPurge } from '../vault/tenant-purge.contract.js';

const folders: string[] = [];
afterAll(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

describeTenantPurge('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  folders.push(folder);
  return { file: join(folder, 'keys.db') };
});
