import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { routeHost } from './host-fetch.js';
import { repository, type PlatformProcess } from './platform-process.js';

/** Module that a platform preloads to read documents of a {@link DomainServer}. */
export const DOMAIN_SERVERS_HOOK = join(repository, 'libs/testing/dist/domain-servers-hook.js');

/** The server of a custom domain, as a customer runs one: it forwards some paths to the gateway, with the Host of the domain. */
export class DomainServer {
  private constructor(
    private readonly server: Server,
    private readonly domain: string,
  ) {}

  /** For requests of wallets, by `hostFetch`, and for those of the platform. @param paths that it forwards; it answers others with 404 */
  static async start(platform: PlatformProcess, domain: string, paths: readonly string[]): Promise<DomainServer> {
    const server = createServer((incoming, answer) => {
      if (incoming.method !== 'GET' || !paths.includes(incoming.url!)) return answer.writeHead(404).end();
      const { host: _, ...headers } = incoming.headers;
      const forwarded = httpRequest(
        {
          ...{ host: '127.0.0.1', port: platform.ready.port, path: incoming.url, agent: false },
          headers: { ...headers, host: domain },
        },
        (response) => {
          answer.writeHead(response.statusCode!, response.headers);
          response.pipe(answer);
        },
      );
      forwarded.once('error', () => answer.destroy());
      forwarded.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    routeHost(domain, port);
    await platform.query({ [domain]: port });
    return new DomainServer(server, domain);
  }

  async stop(): Promise<void> {
    routeHost(this.domain, undefined);
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
