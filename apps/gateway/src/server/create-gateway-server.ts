import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { headersTooLarge, MAX_HEADER_BYTES } from '@attestry/contracts';
import type { Metrics, PlatformConfig } from '@attestry/service-kit';
import { renderForAnyShape } from '../operation/render-error.js';
import { SERVED_METHODS } from '../pipeline/served-methods.js';
import { bareAnswer, bareHeaders } from './bare-answer.js';
import { Connections } from './connections.js';
import { SECURE_HEADERS, SECURITY_HEADERS } from './security-headers.js';

type Settings = Pick<
  PlatformConfig,
  'publicScheme' | 'requestTimeoutMs' | 'maxConnections' | 'maxConnectionsPerPeer' | 'trustedProxies'
>;

/** How long an idle connection is kept for the next request. */
const KEEP_ALIVE_MS = 65_000;

/** An error of Node's HTTP parser, or of its time limits. */
interface ClientError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** RFC 9110 §5.6.2 and §9.1: a method that Node does not know, not just any bytes. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?: |$)/;

/**
 * The HTTP server below Fastify. Fastify sets `requestTimeout` to 0 unless it is set, so that a body could take any time; time limits,
 * connection limits and the responses to malformed requests are set here in one place.
 */
export const createGatewayServer = (settings: Settings, metrics: Metrics, listener: RequestListener): Server => {
  const { requestTimeoutMs } = settings;
  const connections = new Connections(settings, metrics);
  const refused = metrics.counter('httpRefused');
  const server = createServer(
    {
      // A client attestation with its certificates, its proof of possession and a DPoP proof; Node's default is 16 KiB.
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: requestTimeoutMs,
      // Node swaps the two when this one is longer than the other.
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, Math.ceil(requestTimeoutMs / 4)),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A request without Host is answered by the pipeline, in its error shape.
      requireHostHeader: false,
    },
    listener,
  );
  connections.watch(server);
  const securityHeaders = settings.publicScheme === 'https' ? SECURE_HEADERS : SECURITY_HEADERS;
  const answerBare = (
    socket: Socket,
    status: number,
    reason: string,
    { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string } = {},
  ) => {
    refused.inc({ reason });
    bareAnswer(socket, status, { ...securityHeaders, ...headers }, body);
  };

  server.on('clientError', (error: ClientError, socket: Socket) => {
    const exchange = connections.exchangeOn(socket);
    const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (exchange) {
      const { request, response } = exchange;
      if (isTimeout && !response.headersSent && request.listenerCount('error') > 0) {
        refused.inc({ reason: 'timeout' });
        request.emit('error', error);
        return;
      }
      // The client waits for this response and no other.
      socket.destroy();
      return;
    }
    if (isTimeout) answerBare(socket, 408, 'timeout');
    else if (error.code === 'HPE_HEADER_OVERFLOW')
      answerBare(socket, 431, 'malformed', renderForAnyShape(headersTooLarge()));
    else if (error.code === 'HPE_INVALID_METHOD' && METHOD.test(error.rawPacket?.toString('latin1') ?? ''))
      answerBare(socket, 405, 'method', { headers: { allow: ALLOWED } });
    else if (error.code?.startsWith('HPE_')) answerBare(socket, 400, 'malformed');
    else socket.destroy();
  });
  // Tunnels: Node removes its own listeners from the connection, also that for errors, and does not respond itself.
  server.on('connect', (_request, duplex) => {
    const socket = duplex as Socket;
    socket.on('error', () => undefined);
    if (!connections.abortExchanges(socket)) answerBare(socket, 405, 'method', { headers: { allow: ALLOWED } });
  });
  // Through the response: a pipelined one waits for its turn, and has no socket before.
  server.on('checkExpectation', (_request, response) => {
    refused.inc({ reason: 'malformed' });
    const headers = bareHeaders(securityHeaders);
    response.writeHead(417, headers).end();
  });
  return server;
};

/** RFC 9110 §15.5.6: a 405 names the allowed methods; of all paths, as the path was not read. */
const ALLOWED = SERVED_METHODS.join(', ');
