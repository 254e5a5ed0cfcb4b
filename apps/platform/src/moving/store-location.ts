import { basename, join, resolve } from 'node:path';

/** A store of history or keys, as an argument names it. */
export type StoreLocation =
  | { kind: 'folder'; folder: string }
  | { kind: 'file'; folder: string; file: string }
  | { kind: 'postgres'; url: string; schema: string }
  | { kind: 'eventstoredb'; url: string; prefix?: string };

/** Domain events or operation events, which have separate stores (ADR 0073). */
export type HistoryKind = 'events' | 'operations';

export const LOCATION_FORMATS =
  'FOLDER, file:PATH/events.db, postgres://…[?schema=attestry] or esdb://…[?prefix=EVENTSTORE_PREFIX]';

/** @param prefix of an esdb:// URL that has none. @throws Error for an argument that names no store */
export const parseLocation = (text: string, prefix?: string): StoreLocation => {
  if (/^postgres(ql)?:\/\//.test(text)) {
    const url = new URL(text);
    const schema = url.searchParams.get('schema') ?? 'attestry';
    url.searchParams.delete('schema');
    return { kind: 'postgres', url: url.href, schema };
  }
  if (/^(esdb|kurrentdb)(\+discover)?:\/\//.test(text)) return eventStoreDb(text, prefix);
  if (/^(?!file:)[a-z][a-z0-9+]*:\/\//i.test(text))
    throw new Error(`${text.split(':')[0]}: is not supported; use ${LOCATION_FORMATS}`);
  const path = resolve(text.replace(/^file:(\/\/)?/, ''));
  if (!path.endsWith('.db')) return { kind: 'folder', folder: path };
  return { kind: 'file', folder: resolve(path, '..'), file: path };
};

/** The URL may name several hosts, which URL does not parse. An empty prefix is none. */
const eventStoreDb = (text: string, defaultPrefix: string | undefined): StoreLocation => {
  const [address, query = ''] = text.split('?', 2) as [string, string?];
  const parameters = query.split('&');
  const own = parameters.find((parameter) => parameter.startsWith('prefix='));
  const prefix = own === undefined ? defaultPrefix : decodeURIComponent(own.slice('prefix='.length));
  const others = parameters.filter((parameter) => parameter !== own && parameter !== '').join('&');
  if (prefix && !/^[A-Za-z0-9_]+$/.test(prefix))
    throw new Error(`prefix of ${address.replace(/\/\/[^@/]*@/, '//')} must contain only letters, digits and _`);
  return { kind: 'eventstoredb', url: others ? `${address}?${others}` : address, ...(prefix && { prefix }) };
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
  if (location.kind === 'postgres') return `${address}, schema ${location.schema}`;
  return location.prefix === undefined ? address : `${address}, prefix ${location.prefix}`;
};
