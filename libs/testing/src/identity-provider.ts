import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real OpenID provider (panva/oidc-provider) on 127.0.0.1, with one client. */
export class TestIdentityProvider {
  private constructor(
    private readonly server: Server,
    /** Issuer. */
    readonly url: string,
  ) {}

  static async start(client = { client_id: 'attestry', client_secret: 'the-secret-of-the-client' }) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Only who needs it loads it: it is large.
    const { default: Provider } = await import('oidc-provider');
    const provider = new Provider(url, {
      clients: [{ ...client, redirect_uris: ['https://client.example/callback'] }],
    });
    const answer = provider.callback();
    server.on('request', (request, response) => void answer(request, response));
    return new TestIdentityProvider(server, url);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
