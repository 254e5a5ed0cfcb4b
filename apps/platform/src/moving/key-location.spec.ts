import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyLocationOf } from './key-location.js';

it('finds the keys of a folder in events.db, and those of an earlier release, which may be running, in keys.db', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-key-location-'));
  const [events, former] = [{ file: join(folder, 'events.db') }, { file: join(folder, 'keys.db') }];
  const find = () => keyLocationOf({ kind: 'folder', folder });
  expect(find()).toEqual(events);
  await writeFile(former.file, '');
  expect(find()).toEqual(former);
  await rm(folder, { recursive: true });
});
