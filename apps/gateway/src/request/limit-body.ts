import { Transform, type Readable } from 'node:stream';
import { tooLarge } from '@attestry/contracts';
import type { FastifyRequest } from 'fastify';

/** The length a request declares for its body; 0 when it has none, or sends it in chunks. */
export const declaredLength = ({ 'content-length': length }: { 'content-length'?: string | undefined }): number =>
  length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : 0;

/**
 * The body stream, refused once it is longer than the operation accepts: at once when its length is declared, otherwise with the first byte
 * beyond the limit.
 * @param count called with the bytes of each chunk of a body of undeclared length; the body fails with the error it throws
 * @throws AppError 413 that names the limit
 */
export const limitBody = (
  limit: number,
  request: FastifyRequest,
  payload: Readable,
  count: (bytes: number) => void,
): Readable => {
  if (request.headers['content-length'] !== undefined) {
    if (Number(request.headers['content-length']) > limit) throw tooLarge('the body', limit);
    // Node reads no more than was declared.
    return payload;
  }
  let received = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      try {
        if (received > limit) throw tooLarge('the body', limit);
        count(chunk.length);
        done(null, chunk);
      } catch (error) {
        payload.unpipe(limited);
        // The rest is discarded: unread, it would keep the connection from its next request.
        payload.resume();
        done(error as Error);
      }
    },
  });
  payload.on('error', (error) => limited.destroy(error));
  return payload.pipe(limited);
};
