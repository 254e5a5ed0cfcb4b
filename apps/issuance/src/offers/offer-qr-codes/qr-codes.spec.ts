import { inflateSync } from 'node:zlib';
import jsqr from 'jsqr';
import { QR_MEDIA_TYPES, QrCodes, type QrMediaType } from './qr-codes.js';

/** ISO/IEC 18004, version 40 with error correction level L. */
const MAX_QR_TEXT = 2953;
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

/** The image has one bit for a pixel, without filters. */
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
  const image = await codes.render('t1', text, mediaType);
  return mediaType === 'image/png' ? readPng(image) : readSvg(image.toString());
};
const textOf = (length: number) => `openid-credential-offer://?${'x%22aB{}'.repeat(400)}`.slice(0, length);

it.each(
  QR_MEDIA_TYPES.flatMap((type) => [1, 130, 900, 2331, 2332, MAX_QR_TEXT].map((length) => [type, length] as const)),
)('as %s, a text of %d characters is read by an independent decoder [T450]', async (type, length) =>
  expect(await decode(textOf(length), type)).toBe(textOf(length)),
);

it('a longer text has no code', () =>
  expect(codes.render('t1', textOf(MAX_QR_TEXT + 1), 'image/png')).rejects.toThrow('Capacity overflow'));

const BUSY = {
  kind: 'unavailable',
  message: 'Too many QR codes are being rendered',
  headers: { 'retry-after': '1' },
};
/** Renders that number of different images at once; resolves to the refusals. */
const flood = async (tenantId: string, size: number) => {
  const images = Array.from({ length: size }, (_, n) => codes.render(tenantId, textOf(2000 + n), 'image/png'));
  const outcomes = await Promise.allSettled(images);
  return outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
};

it('too many of a tenant at once are refused, and the others are rendered [T452]', async () => {
  const refused = await flood('t1', 40);
  expect(refused).toHaveLength(40 - 16);
  expect(refused[0]).toMatchObject(BUSY);
  expect(await flood('t1', 1)).toEqual([]);
});

it('neither a tenant nor one address takes the slots of the others [T482]', async () => {
  const floods = Promise.all(['t1', 't2', 't3', 't4'].map((tenantId) => flood(tenantId, 20)));
  expect(await decode(textOf(130), 'image/png').catch((error: unknown) => error)).toMatchObject(BUSY);
  const same = Array.from({ length: 60 }, () => codes.render('t5', textOf(130), 'image/svg+xml'));
  await expect(Promise.all(same)).resolves.toHaveLength(60);
  expect((await floods).flat().length).toBeGreaterThan(0);
});
