import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPlace } from '@attestry/keys';
import { nameOf, type Place } from './place.js';

/** The keys of a place: `keys.db`, or the schema with the suffix `_keys`. */
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

/** @throws Error where a file would be created */
export const mustExist = (place: KeyPlace): KeyPlace => {
  if ('file' in place && !existsSync(place.file)) throw new Error(`${place.file} does not exist`);
  return place;
};
