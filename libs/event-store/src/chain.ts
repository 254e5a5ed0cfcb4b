import { hash } from 'node:crypto';
import type { EventMetadata, NewEvent, RecordedEvent } from './event-store.js';

/** An event before its place in a stream is known. */
export type UnchainedEvent<Type extends string = string, Data = unknown> = Omit<NewEvent<Type, Data>, 'chain' | 'text'>;

/** Chain value before the first event of a stream. */
export const CHAIN_START = '';

/** Metadata begin with this, the 43 characters of the chain value, and {@link AFTER}. */
const BEFORE = '{"chain":"';
const AFTER = '",';
const VALUE_END = BEFORE.length + 43;
const HASHED_FROM = VALUE_END + AFTER.length;

/**
 * An event linked to the one before it, with the text that every engine stores byte for byte (ADR 0067). The chain value is the base64url
 * SHA-256 over the UTF-8 form of
 *
 *     2 LF previous chain value LF id LF type LF schema version LF data LF metadata
 *
 * where LF is a line feed, which occurs in none of the members as they are written here: in JSON it is escaped. `data` is the stored text, and
 * `metadata` the stored text behind its first 55 characters, `{"chain":"<43 characters>",`.
 *
 * @throws RangeError when id or type contains a line feed
 */
export function chainEvent(previous: string, event: UnchainedEvent): NewEvent {
  const { id, type, schemaVersion, data, metadata } = event;
  if (id.includes('\n') || type.includes('\n')) throw new RangeError(`${id}: id and type must have no line feed`);
  const body = JSON.stringify(data);
  const hashed = `"schemaVersion":${schemaVersion},${JSON.stringify(metadata).slice(1)}`;
  const chain = chainValue(previous, event, body, hashed);
  const text = { data: body, metadata: `${BEFORE}${chain}${AFTER}${hashed}` };
  return { id, type, schemaVersion, data, metadata, chain, text };
}

const chainValue = (
  previous: string,
  { id, type, schemaVersion }: Pick<NewEvent, 'id' | 'type' | 'schemaVersion'>,
  data: string,
  hashed: string,
): string => hash('sha256', `2\n${previous}\n${id}\n${type}\n${schemaVersion}\n${data}\n${hashed}`, 'base64url');

/** The schema version in metadata, for the engine that has no member of its own for it. */
export const schemaVersionIn = (metadata: string): number | undefined => {
  const [, version] = /^\{"chain":"[\w-]{43}","schemaVersion":(\d+),/.exec(metadata) ?? [];
  return version === undefined ? undefined : Number(version);
};

/** An event as its stored text has it. */
export function readText(
  stored: Pick<RecordedEvent, 'id' | 'type' | 'schemaVersion' | 'stream' | 'revision' | 'position'>,
  text: RecordedEvent['text'],
): RecordedEvent {
  const { id, type, schemaVersion, stream, revision, position } = stored;
  const data = JSON.parse(text.data) as unknown;
  // Text that was changed since is read, too: verifyChain finds it.
  if (!text.metadata.startsWith(BEFORE)) {
    const { chain = '', ...metadata } = JSON.parse(text.metadata) as EventMetadata & { chain?: string };
    return { id, type, schemaVersion, data, metadata, chain, text, stream, revision, position };
  }
  const chain = text.metadata.slice(BEFORE.length, VALUE_END);
  // Behind the schema version.
  const rest = text.metadata.slice(text.metadata.indexOf(',', HASHED_FROM) + 1);
  const metadata = JSON.parse(`{${rest}`) as EventMetadata;
  return { id, type, schemaVersion, data, metadata, chain, text, stream, revision, position };
}

export type ChainCheck =
  { intact: true; chain: string } | { intact: false; revision: number; expected: string; found: string };

/**
 * Verifies the events of one stream as they are stored (not upcast), in order. A gap between revisions breaks the chain as a changed event
 * does. A truncated end is detected only with a chain value stored elsewhere.
 *
 * @param start chain value before the first event given, when it is not the first of its stream
 */
export function verifyChain(
  events: readonly Pick<RecordedEvent, keyof NewEvent | 'revision'>[],
  start: string = CHAIN_START,
): ChainCheck {
  let chain = start;
  for (const event of events) {
    const { data, metadata } = event.text;
    const expected = chainValue(chain, event, data, metadata.slice(HASHED_FROM));
    if (!metadata.startsWith(`${BEFORE}${expected}${AFTER}`))
      return { intact: false, revision: event.revision, expected, found: event.chain };
    chain = expected;
  }
  return { intact: true, chain };
}
