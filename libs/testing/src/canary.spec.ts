import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needlesOf, searchBytes, searchFolders, type Canary } from './canary.js';

const canary: Canary = { name: 'claim', value: 'Zoë "Ü" /Kestrel-49\\17+~' };
const hits = (text: string | Buffer, value: Canary = canary) =>
  searchBytes(Buffer.from(text as string), needlesOf(value), 'x').map(({ encoding }) => encoding);

describe('the search for canaries', () => {
  it.each([
    ['as it is', canary.value],
    ['in JSON', JSON.stringify({ a: canary.value })],
    ['in JSON inside JSON', JSON.stringify({ a: JSON.stringify({ a: 'plain-canary-value' }) }), 'plain-canary-value'],
    ['in percent-encoding', encodeURIComponent(`x=${canary.value}`)],
    ['in lower case percent-encoding', encodeURIComponent(canary.value).replace(/%../g, (it) => it.toLowerCase())],
    ['in a form', new URLSearchParams({ a: 'two words here' }).toString(), 'two words here'],
    ['in hex', Buffer.from(`before ${canary.value} after`).toString('hex')],
    ['in upper case hex', Buffer.from(canary.value).toString('hex').toUpperCase()],
    ['in base64, first alignment', Buffer.from(`${canary.value}…`).toString('base64')],
    ['in base64, second alignment', Buffer.from(`"${canary.value}"`).toString('base64')],
    ['in base64, third alignment', Buffer.from(`{"${canary.value}"}`).toString('base64')],
    ['in base64url, second alignment', Buffer.from(`?${canary.value}?`).toString('base64url')],
    ['in base64url, third alignment', Buffer.from(`??${canary.value}`).toString('base64url')],
    ['in UTF-16', Buffer.from(canary.value, 'utf16le')],
  ])('finds it %s', (_name, text, value = canary.value) => {
    expect(hits(text, { name: 'claim', value })).not.toEqual([]);
  });

  it('finds nothing in similar text', () => {
    expect(hits('Zoe Kestrel-49 17 and Kestrel-50')).toEqual([]);
  });

  it.each([0, 1, 2])('keeps every whole character of base64 at alignment %i', (shift) => {
    const value = 'ABCDEFGHIJK';
    const encoded = Buffer.from('\0'.repeat(shift) + value).toString('base64');
    const needle = needlesOf({ name: 'v', value }).find(({ encoding }) => encoding === `base64, alignment ${shift}`)!;
    expect(encoded).toContain(needle.bytes.toString());
    // At most one character at each end depends on the neighbours.
    expect(needle.bytes.length).toBeGreaterThanOrEqual(Math.floor((value.length * 8) / 6) - 1);
  });

  it('finds a long value that is split by a page boundary', () => {
    const value = Array.from({ length: 40 }, (_, i) => `segment-${i}`).join('/');
    const cut = Math.floor(value.length / 2);
    const bytes = Buffer.from(`${value.slice(0, cut)}\0\0\0page\0${value.slice(cut)}`);
    expect(searchBytes(bytes, needlesOf({ name: 'long', value }), 'x')).not.toEqual([]);
  });

  it('refuses a value that could occur by chance', () => {
    expect(() => needlesOf({ name: 'pin', value: '12345' })).toThrow(RangeError);
  });

  it('reads every file of every folder, and reports where', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'attestry-canary-'));
    try {
      await mkdir(join(folder, 'deep'));
      await writeFile(join(folder, 'clean.db'), 'nothing here');
      await writeFile(join(folder, 'deep', 'events.db-wal'), Buffer.from(`xx${canary.value}`));
      const { sightings, files } = await searchFolders([folder], [canary]);
      expect(files.sort()).toEqual(['clean.db', join('deep', 'events.db-wal')]);
      expect(sightings).toContainEqual({
        canary: 'claim',
        encoding: 'raw',
        file: join('deep', 'events.db-wal'),
        offset: 2,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
