import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '../request/request-id.js';

/** Headers of an answer that ends its connection. */
export const bareHeaders = (headers: Record<string, string>, body = ''): Record<string, string> => ({
  'x-request-id': newRequestId(),
  'cache-control': 'no-store',
  ...headers,
  'content-length': String(Buffer.byteLength(body)),
  connection: 'close',
});

/**
 * A response, without content unless a body is given, written past the HTTP server: for bytes that it could not parse as a request, or for a connection that it
 * detached. The connection ends with it.
 */
export const bareAnswer = (socket: Socket, status: number, headers: Record<string, string> = {}, body = ''): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = Object.entries(bareHeaders(headers, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
};
