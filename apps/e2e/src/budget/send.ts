import { Agent, request } from 'node:http';
import { pathOf, type ApiClient, type OperationParts } from '@attestry/testing';
import type { Operation } from '@attestry/contracts';
import type { HostileParts } from './hostile-requests.js';

/** An operation's own deadline is 10 s; a frozen process takes longer. */
const HANG_MS = 60_000;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Status of a request refused by closing its connection while it was still being sent. */
export const REFUSED = 413;

/** Sends an operation's valid request with the hostile parts instead of its own; returns the status. */
export const send = (
  client: ApiClient,
  operation: Operation,
  right: OperationParts,
  hostile: HostileParts,
): Promise<number> => {
  const { port, host } = new URL(client.baseUrl);
  const path = hostile.path ?? pathOf(operation.http!.path, { ...right.params, ...hostile.params });
  const query = hostile.query ?? new URLSearchParams(right.query as Record<string, string>).toString();
  const token = right.token === undefined ? client.token : right.token;
  const own = right.body === undefined ? undefined : rightBody(right.body);
  const body = hostile.body ?? own;
  const headers = {
    host,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': body.mediaType, 'content-length': String(Buffer.byteLength(body.text)) }),
    ...right.headers,
    ...hostile.headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method: operation.http!.method,
        path: query ? `${path}?${query}` : path,
        headers,
        agent,
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode!));
        response.on('error', reject);
      },
    );
    sent.setTimeout(HANG_MS, () => sent.destroy(new Error(`no answer to ${operation.name} in ${HANG_MS} ms`)));
    sent.on('error', (error: NodeJS.ErrnoException) =>
      body && ['EPIPE', 'ECONNRESET'].includes(error.code ?? '') ? resolve(REFUSED) : reject(error),
    );
    sent.end(body?.text);
  });
};

const rightBody = (body: unknown): { mediaType: string; text: string } =>
  body instanceof URLSearchParams
    ? { mediaType: 'application/x-www-form-urlencoded', text: body.toString() }
    : { mediaType: 'application/json', text: typeof body === 'string' ? body : JSON.stringify(body) };
