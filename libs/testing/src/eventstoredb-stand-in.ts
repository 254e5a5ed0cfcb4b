import { randomUUID } from 'node:crypto';
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  EventStoreDbLog,
  MOST_APPENDED_BYTES,
  NO_STREAM,
  type Appended,
  type Expected,
  type ProposedRecord,
  type StoredRecord,
} from './eventstoredb-log.js';
import { freePort } from './free-port.js';

type Reading = ServerWritableStream<ReadReq, ReadResp>;
type Wanted = (record: StoredRecord) => boolean;

/** Limits of EventStoreDB 23.10: events that wait for a live subscriber, and events of one page of a read. */
const MAX_QUEUED = 32;
const PAGE = 32;
const TOO_SLOW = 'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.';

/**
 * A stand-in for EventStoreDB 23.10, no EventStoreDB: a gRPC server built on the service definitions that the client
 * package ships, with a log in memory. It does what was read in the server's sources and seen of the server: appends, single
 * and batched, reads, filtered reads, subscriptions to `$all` that are dropped when they are too slow. It has no
 * subscriptions to one stream, no deletion, no projections and no access control.
 */
export class EventStoreDbStandIn {
  readonly log = new EventStoreDbLog();
  /** Requests since the start. */
  readonly requests = { read: 0, append: 0, batchAppend: 0, subscription: 0 };
  /** How often a subscriber was dropped because it was too slow. */
  drops = 0;
  /** Refuses every call as a server does that starts or has no quorum. */
  unavailable = false;
  /** Accepts calls and never replies. */
  silent = false;
  private readonly subscribers = new Set<(error: object) => void>();
  private server: Server | undefined;

  private constructor(readonly port: number) {}

  /** On a free port of 127.0.0.1. */
  static async start(): Promise<EventStoreDbStandIn> {
    const standIn = new EventStoreDbStandIn(await freePort());
    await standIn.listen();
    return standIn;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Ends it at once, with every connection; what was appended is kept. */
  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  /** {@link stop} and starts again on the same port with what it had. */
  async restart(): Promise<void> {
    this.stop();
    await this.listen();
  }

  /** Ends every subscription as the server does with one that cannot keep up. */
  dropSubscribers(): void {
    for (const drop of [...this.subscribers]) drop({ code: status.ABORTED, details: TOO_SLOW });
  }

  async listen(): Promise<void> {
    const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
    const notThere = (_: unknown, callback: sendUnaryData<never>) =>
      callback({ code: status.UNIMPLEMENTED, details: 'not in the stand-in' });
    server.addService(streamsGrpc.StreamsService, {
      read: (call: Reading) => this.guarded(call, () => this.read(call)),
      append: (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>) =>
        this.guarded(call, () => this.append(call, callback), callback),
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) =>
        this.guarded(call, () => this.batchAppend(call)),
      delete: notThere,
      tombstone: notThere,
    });
    server.addService(featuresGrpc.ServerFeaturesService, {
      getSupportedMethods: (
        call: ServerUnaryCall<unknown, SupportedMethods>,
        callback: sendUnaryData<SupportedMethods>,
      ) => this.guarded(call, () => callback(null, supportedMethods()), callback),
    });
    server.addService(gossipGrpc.GossipService, {
      read: (call: ServerUnaryCall<unknown, ClusterInfo>, callback: sendUnaryData<ClusterInfo>) =>
        this.guarded(call, () => callback(null, this.members()), callback),
    });
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${this.port}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
    this.server = server;
  }

  private guarded(
    call: { emit(event: 'error', error: object): unknown },
    work: () => unknown,
    callback?: sendUnaryData<never>,
  ): void {
    if (this.silent) return;
    const refusal = { code: status.UNAVAILABLE, details: 'Server Is Not Ready' };
    if (!this.unavailable) work();
    else if (callback) callback(refusal);
    else call.emit('error', refusal);
  }

  private members(): ClusterInfo {
    const member = new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString(randomUUID()))
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(this.port));
    return new gossip.ClusterInfo().setMembersList([member]);
  }

  private append(call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>): void {
    this.requests.append++;
    let options: AppendReq.Options | undefined;
    const proposed: ProposedRecord[] = [];
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message) proposed.push(recordFrom(message));
    });
    call.on('end', () => {
      const expected: Expected = options!.hasRevision()
        ? Number(options!.getRevision())
        : options!.hasNoStream()
          ? NO_STREAM
          : options!.hasStreamExists()
            ? 'stream exists'
            : 'any';
      const appended = this.log.append(nameOf(options!.getStreamIdentifier()!), expected, proposed);
      if ('tooLarge' in appended) return callback(tooLarge());
      const answer = new streams.AppendResp();
      if ('wrong' in appended) {
        const wrong = new streams.AppendResp.WrongExpectedVersion();
        if (appended.wrong === NO_STREAM) wrong.setCurrentNoStream(new shared.Empty());
        else wrong.setCurrentRevision(String(appended.wrong));
        if (expected === NO_STREAM) wrong.setExpectedNoStream(new shared.Empty());
        else if (typeof expected === 'number') wrong.setExpectedRevision(String(expected));
        answer.setWrongExpectedVersion(wrong);
      } else {
        const position = new streams.AppendResp.Position()
          .setCommitPosition(String(appended.position))
          .setPreparePosition(String(appended.position));
        answer.setSuccess(
          new streams.AppendResp.Success().setCurrentRevision(String(appended.revision)).setPosition(position),
        );
      }
      callback(null, answer);
    });
  }

  private batchAppend(call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void {
    const unfinished = new Map<string, { options: BatchAppendReq.Options; proposed: ProposedRecord[] }>();
    call.on('data', (request: BatchAppendReq) => {
      if (this.silent) return;
      const id = request.getCorrelationId()!.getString();
      const options = request.getOptions();
      if (options) unfinished.set(id, { options, proposed: [] });
      const append = unfinished.get(id);
      if (!append) return;
      append.proposed.push(...request.getProposedMessagesList().map(recordFrom));
      if (!request.getIsFinal()) return;
      unfinished.delete(id);
      this.requests.batchAppend++;
      const expected = expectedOf(append.options);
      const appended = this.log.append(nameOf(append.options.getStreamIdentifier()!), expected, append.proposed);
      const answer = new streams.BatchAppendResp()
        .setCorrelationId(request.getCorrelationId())
        .setStreamIdentifier(append.options.getStreamIdentifier());
      if ('position' in appended) answer.setSuccess(successOf(appended));
      else answer.setError(errorOf(appended, expected));
      call.write(answer);
    });
    call.on('end', () => call.end());
    call.on('error', () => unfinished.clear());
  }

  private read(call: Reading): void {
    const options = call.request.getOptions()!;
    const reading = options.hasSubscription()
      ? this.subscribe(call, options)
      : options.hasAll()
        ? this.readAll(call, options)
        : this.readStream(call, options);
    reading.catch((error: unknown) => call.emit('error', error));
  }

  private async readStream(call: Reading, options: ReadReq.Options): Promise<void> {
    this.requests.read++;
    const of = options.getStream()!;
    const name = nameOf(of.getStreamIdentifier()!);
    const stored = this.log.stream(name);
    if (!stored) {
      call.write(
        new streams.ReadResp().setStreamNotFound(
          new streams.ReadResp.StreamNotFound().setStreamIdentifier(of.getStreamIdentifier()),
        ),
      );
      call.end();
      return;
    }
    const from = of.hasRevision() ? Number(of.getRevision()) : undefined;
    const found = isBackwards(options)
      ? stored.filter(({ revision }) => from === undefined || revision <= from).reverse()
      : stored.filter(({ revision }) => from === undefined || revision >= from);
    await this.answer(call, found, Number(options.getCount()));
  }

  private async readAll(call: Reading, options: ReadReq.Options): Promise<void> {
    this.requests.read++;
    const at = positionOf(options.getAll()!);
    const { records } = this.log;
    const wanted = filterOf(options);
    const count = Number(options.getCount());
    const step = isBackwards(options) ? -1 : 1;
    const found: StoredRecord[] = [];
    let index = at === undefined ? (step > 0 ? 0 : records.length) : this.log.indexAt(at);
    // Backwards a position is exclusive, forwards inclusive.
    if (step < 0) index--;
    for (; found.length < count && records[index]; index += step) {
      const record = records[index]!;
      if (wanted(record)) found.push(record);
    }
    await this.answer(call, found, count);
  }

  private async answer(call: Reading, found: readonly StoredRecord[], count: number): Promise<void> {
    for (const record of found.slice(0, count)) if (!(await send(call, eventOf(record)))) return;
    call.end();
  }

  private async subscribe(call: Reading, options: ReadReq.Options): Promise<void> {
    this.requests.subscription++;
    if (!options.hasAll()) {
      call.emit('error', { code: status.UNIMPLEMENTED, details: 'not in the stand-in' });
      return;
    }
    const { log } = this;
    const wanted = filterOf(options);
    const settings = options.getFilter();
    const window = settings?.getMax() || PAGE;
    const interval = window * (settings?.getCheckpointintervalmultiplier() ?? 1);
    const at = positionOf(options.getAll()!);
    let considered = 0;
    // Exclusive: behind the first record that is found there, whichever that is.
    let next = at === undefined ? 0 : log.indexAt(at) + 1;
    let passed = at ?? 0;
    await send(call, new streams.ReadResp().setConfirmation(confirmation()));
    while (next < log.records.length) {
      const page: StoredRecord[] = [];
      let seen = 0;
      let last = passed;
      for (; seen < window && page.length < PAGE && next < log.records.length; seen++, next++) {
        const record = log.records[next]!;
        passed = record.position;
        if (wanted(record)) page.push(record);
      }
      for (const record of page) {
        last = record.position;
        if (!(await send(call, eventOf(record)))) return;
      }
      considered += seen;
      // A scavenge meanwhile moves the records, not their positions.
      next = log.indexAt(passed + 1);
      if (next >= log.records.length) break;
      if (settings && considered >= interval) {
        considered %= interval;
        if (!(await send(call, checkpointOf(last)))) return;
      }
    }
    this.goLive(call, wanted, settings ? interval : Infinity, considered);
  }

  /** From here on new records are pushed, and a subscriber with too many pending records is dropped. */
  private goLive(call: Reading, wanted: Wanted, interval: number, considered: number): void {
    const waiting: ReadResp[] = [new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())];
    let pumping = false;
    const pump = async () => {
      if (pumping) return;
      pumping = true;
      for (let one = waiting.shift(); one; one = waiting.shift()) if (!(await send(call, one))) break;
      pumping = false;
    };
    const unfollow = this.log.follow((record) => {
      if (wanted(record)) waiting.push(eventOf(record));
      if (++considered >= interval) {
        considered = 0;
        waiting.push(checkpointOf(record.position));
      }
      if (waiting.length > MAX_QUEUED) drop({ code: status.ABORTED, details: TOO_SLOW });
      else void pump();
    });
    const leave = () => {
      unfollow();
      waiting.splice(0);
      this.subscribers.delete(drop);
    };
    const drop = (error: object) => {
      leave();
      this.drops++;
      call.emit('error', { ...error, metadata: new Metadata() });
    };
    this.subscribers.add(drop);
    call.on('cancelled', leave);
    call.on('close', leave);
    void pump();
  }
}

/** False when there is no listener any more. */
const send = async (call: Reading, response: ReadResp): Promise<boolean> => {
  if (call.cancelled || call.destroyed || call.writableEnded) return false;
  if (call.write(response)) return true;
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'cancelled', 'close', 'error']) call.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'cancelled', 'close', 'error']) call.on(event, done);
  });
  return !call.cancelled && !call.destroyed;
};

const nameOf = (identifier: { getStreamName_asU8(): Uint8Array }): string =>
  Buffer.from(identifier.getStreamName_asU8()).toString();

const recordFrom = (message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): ProposedRecord => ({
  id: message.getId()!.getString(),
  type: message.getMetadataMap().get('type')!,
  contentType: message.getMetadataMap().get('content-type')!,
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

const expectedOf = (options: BatchAppendReq.Options): Expected =>
  options.hasStreamPosition()
    ? Number(options.getStreamPosition())
    : options.hasNoStream()
      ? NO_STREAM
      : options.hasStreamExists()
        ? 'stream exists'
        : 'any';

const successOf = ({ revision, position }: { revision: number; position: number }) =>
  new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(
      new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );

const errorOf = (appended: Exclude<Appended, { position: number }>, expected: Expected) => {
  if ('tooLarge' in appended) {
    const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(appended.tooLarge);
    return statusOf(status.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', details.serializeBinary());
  }
  const details = new shared.WrongExpectedVersion();
  if (appended.wrong === NO_STREAM) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(String(appended.wrong));
  if (expected === 'any') details.setExpectedAny(new empty.Empty());
  else if (expected === 'stream exists') details.setExpectedStreamExists(new empty.Empty());
  else if (expected === NO_STREAM) details.setExpectedNoStream(new empty.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return statusOf(status.ALREADY_EXISTS, 'WrongExpectedVersion', details.serializeBinary());
};

const statusOf = (code: number, name: string, details: Uint8Array) => {
  const packed = new any.Any();
  packed.pack(details, `event_store.client.${name}`);
  return new statusMessages.Status().setCode(code).setMessage(name).setDetails(packed);
};

const tooLarge = () => {
  const metadata = new Metadata();
  metadata.set('exception', 'maximum-append-size-exceeded');
  metadata.set('maximum-append-size', String(MOST_APPENDED_BYTES));
  return { code: status.INVALID_ARGUMENT, details: 'Maximum Append Size Exceeded.', metadata };
};

const isBackwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;

const positionOf = (all: ReadReq.Options.AllOptions): number | undefined => {
  const position = all.getPosition();
  return position && Number(position.getCommitPosition());
};

const filterOf = (options: ReadReq.Options): Wanted => {
  const filter = options.getFilter();
  const expression = filter?.getStreamIdentifier() ?? filter?.getEventType();
  if (!expression) return () => true;
  const regex = expression.getRegex() === '' ? undefined : new RegExp(expression.getRegex());
  const prefixes = expression.getPrefixList();
  const matches = (text: string) => regex?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix));
  return filter!.hasEventType() ? ({ type }) => matches(type) : ({ stream }) => matches(stream);
};

const eventOf = (record: StoredRecord): ReadResp => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(new Uint8Array(Buffer.from(record.stream))))
    .setStreamRevision(String(record.revision))
    .setCommitPosition(String(record.position))
    .setPreparePosition(String(record.position))
    .setData(record.data)
    .setCustomMetadata(record.metadata);
  // Ticks of 100 ns since 1970.
  const created = String(BigInt(record.created) * 10_000n);
  recorded.getMetadataMap().set('type', record.type).set('content-type', record.contentType).set('created', created);
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(record.position)),
  );
};

const checkpointOf = (position: number): ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

const confirmation = () => new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());

const supportedMethods = (): SupportedMethods =>
  new features.SupportedMethods()
    .setEventStoreServerVersion('23.10.6')
    .setMethodsList(
      ['read', 'append', 'batchappend'].map((name) =>
        new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
      ),
    );
