import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** A form has a few short fields. */
const MAX_BYTES = 16 * 1024;

export type ReadForm = { status: 200; fields: Record<string, string> } | { status: 400 | 408 | 413 | 415 };

/** Whether the percent-encoded octets are UTF-8; a percent sign that encodes nothing is literal. */
const isDecodable = (text: string): boolean =>
  (text.match(/(?:%[0-9A-Fa-f]{2})+/g) ?? []).every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')));

/**
 * The fields of a posted form. A field given twice is a 400: two readers could take different ones.
 * @returns `undefined` when the client ended the connection before the whole form had arrived
 */
export const readForm = async (request: IncomingMessage): Promise<ReadForm | undefined> => {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return { status: 415 };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // A destroyed request would close the connection, and with it the response.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return { status: 413 };
      chunks.push(chunk);
    }
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408 };
    if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return undefined;
    throw error;
  }
  const body = Buffer.concat(chunks);
  const text = body.toString('utf8');
  if (!isUtf8(body) || !isDecodable(text)) return { status: 400 };
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) return { status: 400 };
    fields[name] = value;
  }
  return { status: 200, fields };
};
