// The platform that specs share: this process starts it when the first of them wants its addresses, over HTTP, for they
// run in worker processes.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { onTeardown } from './started.mjs';

/**
 * @param {'embedded' | 'cluster'} mode
 * @param {() => Promise<object>} start a platform of libs/testing
 */
export async function offerSharedPlatform(mode, start) {
  let started;
  const server = createServer(async (_request, response) => {
    try {
      const platform = await (started ??= start());
      response.end(JSON.stringify({ ready: platform.ready, managementClient: platform.managementClient() }));
    } catch (error) {
      response.writeHead(500).end(error.stack);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.env[`ATTESTRY_SHARED_PLATFORM_${mode.toUpperCase()}`] = `http://127.0.0.1:${server.address().port}`;
  onTeardown(async () => {
    server.close();
    server.closeAllConnections();
    // A failed start has failed the specs that needed it, and has left nothing behind.
    const platform = await started?.catch(() => undefined);
    await platform?.stop();
  });
}
