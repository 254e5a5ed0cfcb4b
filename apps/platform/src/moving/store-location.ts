import { basename, join, resolve } from 'node:path';

/** A store of history or keys, as an argument names it. */
export type StoreLocation =
  | { kind: 'folder'; folder: string }
  | { kind: 'file'; folder: string; file: string }
  | { kind: 'postgres'; url: string; schema: string }
  | { kind: 'eventstoredb'; url: string };

/** Domain events or operation events, which have separate stores (ADR 0004). */
export type HistoryKind = 'events' | 'operations';

export const LOCATION_FORMATS = 'FOLDER, file:PATH/events.db, postgres://…[?schema=attestry] or esdb://…';

/** @throws Error for an argument that names no store */
export const parseLocation = (text: string): StoreLocation => {
  if (/^postgres(ql)?:\/\//.test(text)) {
    const url = new URL(text);
    const schema = url.searchParams.get('schema') ?? 'attestry';
    url.searchParams.delete('schema');
    return { kind: 'postgres', url: url.href, schema };
  }
  if (/^(esdb|kurrentdb)(\+discover)?:\/\//.test(text)) return { kind: 'eventstoredb', url: text };
  if (/^(?!file:)[a-z][a-z0-9+]*:\/\//i.test(text))
    throw new Error(`${text.split(':')[0]}: is not supported; use ${LOCATION_FORMATS}`);
  const path = resolve(text.replace(/^file:(\/\/)?/, ''));
  if (!path.endsWith('.db')) return { kind: 'folder', folder: path };
  return { kind: 'file', folder: resolve(path, '..'), file: path };
};

/** Kinds of history in a place; domain events last, as with them the target may be started. */
export const kindsOf = (location: StoreLocation): HistoryKind[] => {
  if (location.kind !== 'file') return ['operations', 'events'];
  return [basename(location.file).startsWith('operations') ? 'operations' : 'events'];
};

export const fileOf = (location: Extract<StoreLocation, { folder: string }>, kind: HistoryKind): string =>
  location.kind === 'file' ? location.file : join(location.folder, `${kind}.db`);

export const schemaOf = ({ schema }: Extract<StoreLocation, { kind: 'postgres' }>, kind: HistoryKind): string =>
  kind === 'operations' ? `${schema}_operations` : schema;

/** Safe to print: without user and password. */
export const nameOf = (location: StoreLocation): string => {
  if (location.kind === 'folder') return location.folder;
  if (location.kind === 'file') return location.file;
  const address = location.url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/, '');
  return location.kind === 'postgres' ? `${address}, schema ${location.schema}` : address;
};
