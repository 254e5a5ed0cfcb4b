import { gunzipSync, inflateSync } from 'node:zlib';
import { unzlibSync } from 'fflate';
import { SeededRandom } from '@attestry/testing';
import { deflateStatuses, gzipStatuses } from './compressed-statuses.js';
import { INVALID, LIST_SIZE, packedStatuses, setStatus } from './packed-statuses.js';

const random = new SeededRandom(1);
const listWith = (changed: number): Uint8Array => {
  const list = packedStatuses(LIST_SIZE, 2);
  for (let index = 0; index < LIST_SIZE; index++) if (random.next() < changed) setStatus(list, 2, index, INVALID);
  return list;
};

describe('compressed statuses', () => {
  it.each([
    [0, 100],
    [0.001, 600],
    [0.01, 2600],
    [0.1, 8600],
    [0.5, 17_000],
  ])('are short and not changed, with a share of %d changed', async (changed, longest) => {
    const list = listWith(changed);
    const [zlib, gzip] = await Promise.all([deflateStatuses(list), gzipStatuses(list)]);
    expect(zlib.length).toBeLessThan(longest);
    expect(gzip.length).toBe(zlib.length + 12);
    expect(inflateSync(zlib).equals(list)).toBe(true);
    expect(Buffer.from(unzlibSync(zlib)).equals(list)).toBe(true);
    expect(gunzipSync(gzip).equals(list)).toBe(true);
  });
});
