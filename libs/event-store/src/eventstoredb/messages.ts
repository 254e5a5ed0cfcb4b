import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { BatchAppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { readText, schemaVersionIn } from '../chain.js';
import type { NewEvent, RecordedEvent, Revision, StreamName } from '../event-store.js';
import { toText, type LogPosition } from './log-position.js';
import type { StreamFilter, StreamNames } from './stream-names.js';

/** An event as bytes. */
export interface EncodedEvent {
  id: string;
  type: string;
  data: Buffer;
  metadata: Buffer;
}

/** Where to start, inclusive; absent means the beginning (forwards) or the end (backwards). */
export interface ReadFrom<At> {
  from?: At;
  backwards?: boolean;
  /** Absent means all. */
  limit?: number;
}

const { BatchAppendReq: BatchAppend, ReadReq: Read } = streams;
const { Options } = Read;
/** Records that the server reads before it reports its position to a subscriber. */
const SEARCH_WINDOW = 256;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The schema version is part of the metadata: the server has no member for it. */
export const encodeEvent = ({ id, type, text }: NewEvent): EncodedEvent => {
  // The server returns an id in lower case, so another spelling would not be the same id any more.
  if (!UUID.test(id))
    throw new RangeError(`${id} must be a UUID in lower case, as EventStoreDB requires for event ids`);
  if (type.startsWith('$')) throw new RangeError(`${type}: event types that start with $ are reserved for the server`);
  return {
    id,
    type,
    data: Buffer.from(text.data),
    metadata: Buffer.from(text.metadata),
  };
};

export const byteLength = (events: readonly EncodedEvent[]): number =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);

const streamIdentifier = (name: string) =>
  new shared.StreamIdentifier().setStreamName(new Uint8Array(Buffer.from(name)));

/** One append, complete in one message. `expected`: -1 for a stream that does not exist yet. @param name at the server */
export const appendRequest = (
  correlationId: string,
  name: string,
  events: readonly EncodedEvent[],
  expected: Revision,
): BatchAppendReq => {
  const options = new BatchAppend.Options().setStreamIdentifier(streamIdentifier(name));
  if (expected < 0) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  const request = new BatchAppend()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setIsFinal(true);
  for (const { id, type, data, metadata } of events) {
    const message = new BatchAppend.ProposedMessage()
      .setId(new shared.UUID().setString(id))
      .setData(data)
      .setCustomMetadata(metadata);
    message.getMetadataMap().set('type', type).set('content-type', 'application/json');
    request.addProposedMessages(message);
  }
  return request;
};

const readOptions = ({ backwards = false, limit = Number.MAX_SAFE_INTEGER }: ReadFrom<unknown>) =>
  new Options()
    .setReadDirection(backwards ? Options.ReadDirection.BACKWARDS : Options.ReadDirection.FORWARDS)
    .setCount(String(limit))
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));

/** @param name at the server */
export const streamRequest = (name: string, read: ReadFrom<Revision>): ReadReq => {
  const of = new Options.StreamOptions().setStreamIdentifier(streamIdentifier(name));
  if (read.from !== undefined) of.setRevision(String(read.from));
  else if (read.backwards) of.setEnd(new shared.Empty());
  else of.setStart(new shared.Empty());
  return new Read().setOptions(readOptions(read).setStream(of).setNoFilter(new shared.Empty()));
};

const allFrom = ({ from, backwards }: ReadFrom<LogPosition>) => {
  const all = new Options.AllOptions();
  if (from)
    all.setPosition(
      new Options.Position().setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare)),
    );
  else if (backwards) all.setEnd(new shared.Empty());
  else all.setStart(new shared.Empty());
  return all;
};

/** Every record of the log, the server's own too. */
export const logRequest = (read: ReadFrom<LogPosition>): ReadReq =>
  new Read().setOptions(readOptions(read).setAll(allFrom(read)).setNoFilter(new shared.Empty()));

const { Expression } = Options.FilterOptions;

const expressionOf = (filter: StreamFilter) =>
  'regex' in filter ? new Expression().setRegex(filter.regex) : new Expression().setPrefixList([...filter.prefixes]);

const filterOf = (filter: StreamFilter) =>
  new Options.FilterOptions()
    .setStreamIdentifier(expressionOf(filter))
    .setMax(SEARCH_WINDOW)
    .setCheckpointintervalmultiplier(1);

export const filteredRequest = (streams: StreamFilter, read: ReadFrom<LogPosition>): ReadReq =>
  new Read().setOptions(readOptions(read).setAll(allFrom(read)).setFilter(filterOf(streams)));

/** `after` is exclusive. */
export const subscriptionRequest = (streams: StreamFilter, after: LogPosition | undefined): ReadReq =>
  new Read().setOptions(
    readOptions({})
      .setAll(allFrom({ from: after }))
      .setSubscription(new Options.SubscriptionOptions())
      .setFilter(filterOf(streams)),
  );

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** A record of the log. */
export interface LogRecord {
  position: LogPosition;
  /** Absent for a stream that is not of this platform. */
  stream?: StreamName;
  revision: Revision;
  /** Absent when another application wrote it. */
  event?: RecordedEvent;
}

/** The record of a response, if it contains one. */
export const recordOf = (response: ReadResp, names: StreamNames): LogRecord | undefined => {
  const record = response.getEvent()?.getEvent();
  if (!record) return undefined;
  const position = { commit: BigInt(record.getCommitPosition()), prepare: BigInt(record.getPreparePosition()) };
  const stream = names.inner(textOf(record.getStreamIdentifier()!.getStreamName_asU8()));
  const revision = Number(record.getStreamRevision());
  if (stream === undefined) return { position, revision };
  const type = record.getMetadataMap().get('type')!;
  const metadata = textOf(record.getCustomMetadata_asU8());
  const schemaVersion = type.startsWith('$') ? undefined : schemaVersionIn(metadata);
  // Written by another application.
  if (schemaVersion === undefined) return { position, stream, revision };
  const ids = { id: record.getId()!.getString(), type, schemaVersion, stream, revision, position: toText(position) };
  return { position, stream, revision, event: readText(ids, { data: textOf(record.getData_asU8()), metadata }) };
};
