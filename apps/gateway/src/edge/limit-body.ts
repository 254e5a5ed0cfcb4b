import { Transform, type Readable } from 'node:stream';
import { errorCodes, type FastifyRequest } from 'fastify';

/**
 * The body as it is read, refused once it is longer than the operation takes: at once when its length is announced, otherwise with the first
 * byte beyond the limit.
 * @throws FST_ERR_CTP_BODY_TOO_LARGE, as Fastify does for its own limit
 */
export const limitBody = (limit: number, request: FastifyRequest, payload: Readable): Readable => {
  const announced = request.headers['content-length'];
  if (announced !== undefined) {
    if (Number(announced) > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    // Node reads no more than was announced.
    return payload;
  }
  let received = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received <= limit) return done(null, chunk);
      payload.unpipe(limited);
      // The rest is discarded: unread, it would keep the connection from its next request.
      payload.resume();
      return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    },
  });
  payload.on('error', (error) => limited.destroy(error));
  return payload.pipe(limited);
};
