import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ClaimsCall {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  /** Text of the body. */
  text: string;
}

type Respond = (call: ClaimsCall, response: ServerResponse) => void;

/** A response of a claims source. */
export const claimsResponse =
  (
    claims: unknown,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ): Respond =>
  (_call, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof claims === 'string' ? claims : JSON.stringify(claims));
  };

/** A claims source with a token endpoint, on a free port of this machine. */
export class ClaimsServer {
  readonly calls: ClaimsCall[] = [];
  readonly tokenCalls: ClaimsCall[] = [];
  respond: Respond = claimsResponse({});
  respondWithToken: Respond = claimsResponse({ access_token: 'a-token', token_type: 'Bearer', expires_in: 300 });

  private constructor(
    private readonly server: Server,
    readonly origin: string,
  ) {}

  static async start(): Promise<ClaimsServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const source = new ClaimsServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => void source.receive(request, response));
    return source;
  }

  get url(): string {
    return `${this.origin}/claims`;
  }
  get tokenEndpoint(): string {
    return `${this.origin}/token`;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.origin);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = {
      method: request.method!,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      text: Buffer.concat(chunks).toString(),
    };
    const isToken = url.pathname === '/token';
    (isToken ? this.tokenCalls : this.calls).push(call);
    (isToken ? this.respondWithToken : this.respond)(call, response);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
