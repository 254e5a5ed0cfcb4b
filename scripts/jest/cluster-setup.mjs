// End-to-end specs on a process for each service: all clusters of the run use the same engines.
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offerSharedPlatform } from './shared-platform.mjs';
import { onTeardown, testKit } from './started.mjs';

export default async function setUp() {
  const { Cluster, startClusterEngines } = await testKit();
  const folder = mkdtempSync(join(tmpdir(), 'attestry-engines-'));
  const engines = await startClusterEngines(folder);
  onTeardown(async () => {
    await engines.stop();
    await rm(folder, { recursive: true, force: true });
  });
  Object.assign(process.env, engines.env);
  await offerSharedPlatform('cluster', () => Cluster.start());
}
