import { Transform, type Readable } from 'node:stream';
import type { InFlight } from './requests-in-flight.js';

/** The length a request declares for its body; 0 when it has none, or sends it in chunks. */
export const declaredLength = ({ 'content-length': length }: { 'content-length'?: string | undefined }): number =>
  length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : 0;

/** The same body; it fails when what has come of it is more than its address may have in flight. */
export const countBody = (body: Readable, inFlight: InFlight): Readable => {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        inFlight.add(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  body.once('error', (error) => counted.destroy(error));
  return body.pipe(counted);
};
