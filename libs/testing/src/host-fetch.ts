import { Agent, buildConnector, fetch as undiciFetch } from 'undici';

const connect = buildConnector({
  // `*.localhost` need not resolve (RFC 6761 §6.3 leaves it to the resolver); the Host header stays as it is in the URL.
  lookup: (_host, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
});

/** Ports of hosts whose URL has none. */
const ports = new Map<string, number>();

/** Connects {@link hostFetch} to this port where a URL names the host without one; `undefined` ends it. */
export const routeHost = (host: string, port: number | undefined): void => {
  if (port === undefined) ports.delete(host);
  else ports.set(host, port);
};

const dispatcher = new Agent({
  connect: (options, callback) => {
    const port = options.port === '' ? ports.get(options.hostname) : undefined;
    connect(port === undefined ? options : { ...options, port: String(port) }, callback);
  },
  keepAliveTimeout: 2000,
  connections: 128,
});

/** `fetch` that connects to 127.0.0.1 whatever host the URL names, and sends that host as Host. */
export const hostFetch = ((input: string | URL, init?: RequestInit) =>
  undiciFetch(input, { ...(init as object), dispatcher })) as unknown as typeof fetch;
