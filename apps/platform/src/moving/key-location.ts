import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyLocation } from '@attestry/keys';
import { nameOf, type StoreLocation } from './store-location.js';

/** Where the keys of a place are: a file, or the schema with `_keys` behind its name. */
export const keyLocationOf = (location: StoreLocation): KeyLocation => {
  switch (location.kind) {
    case 'folder':
      return { file: join(location.folder, 'events.db') };
    case 'file':
      return { file: location.file };
    case 'postgres':
      return { url: location.url, schema: `${location.schema}_keys` };
    case 'eventstoredb':
      throw new Error(`${nameOf(location)} stores no keys`);
  }
};

/** @throws Error if the file does not exist */
export const mustExist = (location: KeyLocation): KeyLocation => {
  if ('file' in location && !existsSync(location.file)) throw new Error(`${location.file} does not exist`);
  return location;
};
