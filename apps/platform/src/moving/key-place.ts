import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPlace } from '@attestry/keys';
import { nameOf, type Place } from './place.js';

/** Where the keys of a place are: `keys.db`, or the schema with `_keys` behind its name. */
export const keyPlaceOf = (place: Place): KeyPlace => {
  switch (place.kind) {
    case 'folder':
      return { file: join(place.folder, 'keys.db') };
    case 'file':
      return { file: place.file };
    case 'postgres':
      return { url: place.url, schema: `${place.schema}_keys` };
    case 'eventstoredb':
      throw new Error(`${nameOf(place)} stores no keys`);
  }
};

/** @throws Error where a file would be made anew */
export const mustExist = (place: KeyPlace): KeyPlace => {
  if ('file' in place && !existsSync(place.file)) throw new Error(`${place.file} does not exist`);
  return place;
};
