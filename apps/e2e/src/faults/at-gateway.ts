import { request } from 'node:http';
import type { Operation } from '@attestry/contracts';
import { pathOf, type ServiceProcess } from '@attestry/testing';

export interface Call {
  params?: Record<string, string>;
  token?: string;
  /** JSON, or a form. */
  body?: object | URLSearchParams;
}

export interface GatewayAnswer {
  status: number;
  text: string;
}

/** One call at one gateway, past the load balancer, with the Host of the public address. */
export const callAt = (
  gateway: ServiceProcess,
  baseUrl: string,
  operation: Operation,
  { params, token, body }: Call = {},
): Promise<GatewayAnswer> =>
  new Promise((resolve, reject) => {
    const isForm = body instanceof URLSearchParams;
    const text = body && (isForm ? body.toString() : JSON.stringify(body));
    const { method, path } = operation.http!;
    const clientRequest = request({
      host: '127.0.0.1',
      port: gateway.port,
      method,
      path: pathOf(path, params),
      headers: {
        host: new URL(baseUrl).host,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && {
          'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
      },
    });
    clientRequest.once('error', reject);
    clientRequest.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    clientRequest.end(text);
  });
