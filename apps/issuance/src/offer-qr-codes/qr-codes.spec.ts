import { inflateSync } from 'node:zlib';
import jsqr from 'jsqr';
import { MAX_QR_TEXT } from '@attestry/contracts';
import { QR_MEDIA_TYPES, QrCodes, type QrMediaType } from './qr-codes.js';

const codes = new QrCodes();
afterAll(() => codes.onApplicationShutdown());

const read = (size: number, isLight: (x: number, y: number) => boolean) => {
  const pixels = new Uint8ClampedArray(size * size * 4);
  for (let at = 0; at < size * size; at++) {
    const shade = isLight(at % size, Math.floor(at / size)) ? 255 : 0;
    pixels.set([shade, shade, shade, 255], at * 4);
  }
  return jsqr.default(pixels, size, size)?.data;
};

/** Of one bit for a pixel, without filters. */
const readPng = (png: Buffer) => {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  const size = png.readUInt32BE(16);
  const lines = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
  const stride = 1 + Math.ceil(size / 8);
  return read(size, (x, y) => (lines[y * stride + 1 + (x >> 3)]! & (0x80 >> (x & 7))) !== 0);
};

/** Each run of dark modules is `M<x> <y>h<length>v1H<x>z`. */
const readSvg = (svg: string) => {
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)![1]);
  const dark = new Set<number>();
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1H/g))
    for (let n = 0; n < Number(length); n++) dark.add(Number(y) * size + Number(x) + n);
  const scale = 4;
  return read(size * scale, (x, y) => !dark.has(Math.floor(y / scale) * size + Math.floor(x / scale)));
};

const decode = async (text: string, mediaType: QrMediaType) => {
  const image = await codes.render(text, mediaType);
  return mediaType === 'image/png' ? readPng(image) : readSvg(image.toString());
};
const textOf = (length: number) => `openid-credential-offer://?${'x%22aB{}'.repeat(400)}`.slice(0, length);

it.each(
  QR_MEDIA_TYPES.flatMap((type) => [1, 130, 900, 2331, 2332, MAX_QR_TEXT].map((length) => [type, length] as const)),
)('as %s, a text of %d characters is read by an independent decoder [T450]', async (type, length) =>
  expect(await decode(textOf(length), type)).toBe(textOf(length)),
);

it('a longer text has no code', () =>
  expect(codes.render(textOf(MAX_QR_TEXT + 1), 'image/png')).rejects.toThrow('Capacity overflow'));

it('too many at once are refused, and the others are rendered [T452]', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => codes.render(textOf(2000), 'image/png')));
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(60 - 30);
  expect(refused[0]).toMatchObject({
    kind: 'unavailable',
    message: 'Too many QR codes are being rendered',
    headers: { 'retry-after': '1' },
  });
});
