import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A value that must not be stored in plain text. */
export interface Canary {
  name: string;
  value: string;
}

export interface Sighting {
  canary: string;
  encoding: string;
  /** Path below the folder searched. */
  file: string;
  offset: number;
}

export interface Needle {
  canary: string;
  encoding: string;
  bytes: Buffer;
}

/** Shorter values are found everywhere by chance. */
const MIN_LENGTH = 6;
/** A long value may be split by a page boundary: it is searched in pieces, of which one is complete. */
const PIECE = 40;

/** A value as others may have written it: raw, JSON, base64 and base64url at each alignment, hex, percent-encoded. */
export const needlesOf = ({ name, value }: Canary): Needle[] => {
  if (Buffer.byteLength(value) < MIN_LENGTH) throw new RangeError(`canary ${name} is too short to look for`);
  const needles = new Map<string, Needle>();
  const add = (encoding: string, text: string | Buffer) => {
    const bytes = Buffer.from(text as string);
    const at = bytes.toString('latin1');
    if (bytes.length >= MIN_LENGTH && !needles.has(at)) needles.set(at, { canary: name, encoding, bytes });
  };
  for (const piece of piecesOf(value)) {
    add('raw', piece);
    add('JSON-escaped', JSON.stringify(piece).slice(1, -1));
    add('JSON-escaped, ASCII', asciiJson(piece));
    for (const shift of [0, 1, 2]) {
      const base64 = aligned(Buffer.from(piece), shift);
      add(`base64, alignment ${shift}`, base64);
      add(`base64url, alignment ${shift}`, base64.replaceAll('+', '-').replaceAll('/', '_'));
    }
    const hex = Buffer.from(piece).toString('hex');
    add('hex', hex);
    add('hex, upper case', hex.toUpperCase());
    const percent = encodeURIComponent(piece);
    add('percent-encoded', percent);
    add(
      'percent-encoded, lower case',
      percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    );
    add('percent-encoded, form', percent.replaceAll('%20', '+'));
    add(
      'percent-encoded, every byte',
      hex.replace(/../g, (code) => `%${code.toUpperCase()}`),
    );
    add('UTF-16', Buffer.from(piece, 'utf16le'));
  }
  return [...needles.values()];
};

const piecesOf = (value: string): string[] => {
  if (value.length <= 2 * PIECE) return [value];
  const pieces: string[] = [];
  for (let at = 0; at + PIECE <= value.length; at += PIECE) pieces.push(value.slice(at, at + PIECE));
  return pieces;
};

const asciiJson = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The characters that depend on the value alone when it starts `shift` bytes into a group of three. */
const aligned = (bytes: Buffer, shift: number): string => {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const from = shift === 0 ? 0 : shift + 1;
  return text.slice(from, Math.floor(((shift + bytes.length) * 8) / 6));
};

/** Where any of the values occurs in these bytes. */
export const searchBytes = (bytes: Buffer, needles: readonly Needle[], file: string): Sighting[] =>
  needles.flatMap(({ canary, encoding, bytes: needle }) => {
    const offset = bytes.indexOf(needle);
    return offset < 0 ? [] : [{ canary, encoding, file, offset }];
  });

/** Reads every file below the folders, write-ahead logs included. */
export const searchFolders = async (
  folders: readonly string[],
  canaries: readonly Canary[],
): Promise<{ sightings: Sighting[]; files: string[] }> => {
  const needles = canaries.flatMap(needlesOf);
  const sightings: Sighting[] = [];
  const files: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      const file = relative(folder, path);
      files.push(file);
      sightings.push(...searchBytes(await readFile(path), needles, file));
    }
  }
  return { sightings, files };
};
