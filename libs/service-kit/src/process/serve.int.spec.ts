import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { parseConfig } from '../config/config.js';
import type { Engines } from '../engines/engines.js';
import { openEngines } from '../engines/open-engines.js';
import { Outbound } from '../outbound/outbound.js';
import { startServices } from './serve.js';

describe('services of a process', () => {
  let folder: string;
  let engines: Engines;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-serve-'));
    engines = await openEngines(
      parseConfig({ DATA_DIR: folder, ALLOW_PRIVATE_TARGETS: 'true', LOG_LEVEL: 'silent', NODE_ENV: 'test' }),
    );
  });
  afterEach(async () => {
    await engines.close();
    await rm(folder, { recursive: true });
  });

  it('send no outbound request once they are closed', async () => {
    const server = createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const services = await startServices([], engines);
    const outbound = services.app.get(Outbound);
    const limits = { tenantId: 'tenant-a', timeoutMs: 5000, maxBytes: 100 };
    expect((await outbound.send(url, limits)).status).toBe(200);
    await services.close();
    await expect(outbound.send(url, limits)).rejects.toThrow('The client is');
    await new Promise((resolve) => server.close(resolve));
  });

  it('do not start while operations have no handler', async () => {
    @Module({})
    class EmptyModule {}
    const service = { name: 'dids', module: EmptyModule, needs: [], projections: [] } as const;
    await expect(startServices([service], engines)).rejects.toThrow(
      /^operations: dids\.check-did has no handler; .*dids\.retrieve-did-configuration has no handler/,
    );
  });
});
