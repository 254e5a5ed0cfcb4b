import type { IncomingHttpHeaders } from 'node:http';
import { isUnchanged } from '@attestry/contracts';
import type { Answer } from '../pipeline/answer.js';
import { prefersGzip } from './prefers-gzip.js';
import type { KeptDocument, PublicDocuments } from './public-documents.js';

/**
 * A document in the encoding that the client prefers, with a strong `ETag` for each encoding (RFC 9110 §8.8.3.3), or a 304.
 * @param headers of the answer; one with an `etag` of its own is compressed already, or random
 */
export const encodeDocument = async (
  kept: KeptDocument,
  headers: Readonly<Record<string, string>>,
  requested: IncomingHttpHeaders,
  published: PublicDocuments,
  status = 200,
): Promise<Answer & { body?: Buffer }> => {
  const isEncodable = kept.isCompressible && headers['etag'] === undefined;
  const accepted = requested['accept-encoding'];
  const compressed =
    isEncodable && prefersGzip(accepted === undefined ? undefined : String(accepted))
      ? await published.gzipOf(kept)
      : undefined;
  const etag = headers['etag'] ?? `"${kept.digest}${compressed ? '.gzip' : ''}"`;
  const varies = [headers['vary'], isEncodable ? 'Accept-Encoding' : undefined].filter((one) => one !== undefined);
  const all = { ...headers, etag, ...(varies.length > 0 && { vary: varies.join(', ') }) };
  if (status < 300 && isUnchanged(requested['if-none-match'], etag))
    return { status: 304, headers: withoutContent(all) };
  return {
    status,
    headers: { ...all, ...(compressed && { 'content-encoding': 'gzip' }) },
    body: compressed ?? kept.bytes,
  };
};

/** RFC 9110 §15.4.5: those of the 200 that guide caches, and none about the content. */
const withoutContent = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
