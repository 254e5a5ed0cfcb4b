import { crc32, deflateSync } from 'node:zlib';
import encodeQR from 'qr';

// Runs in a worker thread, from source too, where Node only strips types: no imports of other source files.

export interface QrTask {
  /** ASCII, at most 2,953 characters. */
  text: string;
  mediaType: 'image/svg+xml' | 'image/png';
}

/** Light modules around the code, ISO/IEC 18004 §6.3.8. */
const QUIET_ZONE = 4;
/** Characters of the largest code of level M; level L has room for 2,953. */
const MAX_MEDIUM = 2331;
/** Pixels of a side, at least; a module has a whole number. */
const MIN_PIXELS = 512;

const render = ({ text, mediaType }: QrTask): Uint8Array => {
  const dark = encodeQR(text, 'raw', {
    ecc: text.length <= MAX_MEDIUM ? 'medium' : 'low',
    encoding: 'byte',
    border: QUIET_ZONE,
    scale: 1,
  });
  return mediaType === 'image/png' ? pngOf(dark) : Buffer.from(svgOf(dark));
};

const svgOf = (dark: boolean[][]): string => {
  const size = dark.length;
  let path = '';
  for (const [y, row] of dark.entries())
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      path += `M${start} ${y}h${x - start + 1}v1H${start}z`;
    }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
  );
};

/** Grayscale with one bit for a pixel, where 0 is black (PNG, Third Edition, §11.2.1). */
const pngOf = (dark: boolean[][]): Uint8Array => {
  const scale = Math.ceil(MIN_PIXELS / dark.length);
  const pixels = dark.length * scale;
  const stride = 1 + Math.ceil(pixels / 8);
  const lines = Buffer.alloc(stride * pixels);
  for (const [y, row] of dark.entries()) {
    const at = y * scale * stride;
    for (let x = 0; x < pixels; x++) if (!row[Math.floor(x / scale)]) lines[at + 1 + (x >> 3)]! |= 0x80 >> (x & 7);
    for (let copy = 1; copy < scale; copy++) lines.copyWithin(at + copy * stride, at, at + stride);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels, 0);
  header.writeUInt32BE(pixels, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
};

export default render;
