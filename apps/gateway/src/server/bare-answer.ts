import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '../request/request-id.js';

/** Of an answer without content that ends its connection. */
export const bareHeaders = (headers: Record<string, string>): Record<string, string> => ({
  'x-request-id': newRequestId(),
  'cache-control': 'no-store',
  ...headers,
  'content-length': '0',
  connection: 'close',
});

/**
 * An answer without content, written past the HTTP server: to what it could not read as a request, or gives away with the
 * connection. The connection ends with it.
 */
export const bareAnswer = (socket: Socket, status: number, headers: Record<string, string> = {}): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = Object.entries(bareHeaders(headers)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
  socket.destroySoon();
};
