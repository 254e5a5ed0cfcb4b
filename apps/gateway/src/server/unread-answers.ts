import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Metrics, PlatformConfig } from '@attestry/service-kit';
import { ADDRESSES_OF_NETWORK, networkKeyOf } from '../request/client-address.js';
import { SendQueues, sendQueueOf } from './send-queues.js';

/** How often progress is compared, milliseconds. */
const PROGRESS_INTERVAL_MS = 1000;
/** From one measurement to the next that requests over a limit wait for, milliseconds. */
const MEASURED_AGAIN_MS = 250;
/** An answer of fewer bytes counts until the kernel has taken it; a longer one until the client has. */
const LARGE_BYTES = 65_536;

interface Connection {
  readonly socket: Socket;
  /** Key of its send queue. */
  readonly key: string | undefined;
  /** Responses that are not finished, with the bytes that are reserved for them. */
  readonly responses: Map<ServerResponse, number>;
  /** Keys of the last answer: its address and, in IPv6, that address's network. */
  keys: readonly string[];
  /** Counted against `keys`. */
  bytes: number;
  /** Bytes that the client has taken, and since when (performance.now()) this has not changed while there were more. */
  taken: number;
  since: number;
  /** There were bytes to take at the last comparison. */
  isWaiting: boolean;
}

/** Bytes of the chunk in progress that the kernel has taken: `writableLength` has the whole chunk until its end. */
const takenOfChunk = (socket: Socket): number => {
  const { _writableState: state, _handle: handle } = socket as unknown as {
    _writableState: { writelen: number };
    _handle?: { writeQueueSize?: number } | null;
  };
  return state.writelen > 0 ? Math.max(0, state.writelen - (handle?.writeQueueSize ?? state.writelen)) : 0;
};

/** Bytes of this process that wait for the connection. */
const pendingOf = ({ socket, responses }: Connection): number => {
  let pending = socket.writableLength - takenOfChunk(socket);
  // A pipelined one has no socket before its turn.
  for (const [response, reserved] of responses) pending += reserved + (response.socket ? 0 : response.writableLength);
  return pending;
};

/**
 * Bytes of answers that clients have not taken (ADR 0097): how many one client address, one IPv6 /48 and all together may have, and how long
 * a client may take none.
 */
@Injectable()
export class UnreadAnswers {
  private readonly open = new Map<Socket, Connection>();
  private readonly byKey = new Map<string, number>();
  private readonly refused;
  private total = 0;
  /** Whether {@link check} can refuse: no address has more than all of them. */
  mayBeOver = false;
  private measuredAt = -Infinity;
  private measuring: Promise<void> | undefined;
  private isComparing = false;

  constructor(
    private readonly config: PlatformConfig,
    metrics: Metrics,
  ) {
    this.refused = metrics.counter('httpRefused');
    metrics.onScrape(() => metrics.gauge('httpUnreadBytes').set(this.total));
  }

  watch(server: Server): void {
    const interval = Math.min(PROGRESS_INTERVAL_MS, Math.ceil(this.config.unreadTimeoutMs / 4));
    const timer = setInterval(() => void this.endStalled(), interval).unref();
    server.once('close', () => clearInterval(timer));
    server.on('connection', (socket: Socket) => {
      if (socket.destroyed) return;
      const connection: Connection = {
        socket,
        key: sendQueueOf(socket),
        responses: new Map(),
        keys: [],
        bytes: 0,
        taken: 0,
        since: 0,
        isWaiting: false,
      };
      this.open.set(socket, connection);
      socket.once('close', () => {
        this.count(connection, 0);
        this.open.delete(socket);
      });
    });
  }

  /**
   * A promise only where the address seems to have too many unread bytes: they are measured first.
   * @throws AppError 429 when the address, or its network, has too many
   */
  check(address: string): void | Promise<void> {
    if (!this.isOver(address, 0)) return;
    return this.measure().then(() => {
      if (this.isOver(address, 0)) throw this.tooMany();
    });
  }

  /**
   * Reserves the bytes of an answer that may still be refused. One that is longer than the limit is not, when it is the only one.
   * @throws AppError 429 when the address, or its network, would have too many unread bytes
   */
  reserve(address: string, response: ServerResponse, bytes: number): void | Promise<void> {
    if (!this.isOver(address, bytes)) return this.add(address, response, bytes, bytes);
    return this.measure().then(() => {
      if (this.isOver(address, bytes) && (this.byKey.get(address) ?? 0) > 0) throw this.tooMany();
      this.add(address, response, bytes, bytes);
    });
  }

  /**
   * Counts an answer that is about to be sent. When all together are too many, answers of the address with most are ended.
   * @param reserved bytes of it that are not sent yet
   */
  add(address: string, response: ServerResponse, bytes: number, reserved = 0): void {
    const connection = response.req && this.open.get(response.req.socket);
    if (!connection) return;
    if (connection.keys[0] !== address) {
      const before = connection.bytes;
      this.count(connection, 0);
      const network = networkKeyOf(address);
      connection.keys = network === undefined ? [address] : [address, network];
      this.count(connection, before);
    }
    const { responses } = connection;
    const before = responses.get(response);
    responses.set(response, reserved);
    this.count(connection, connection.bytes + bytes - (before ?? 0));
    const { maxUnreadBytesTotal: limit } = this.config;
    if (this.total > limit) this.makeRoom();
    // In time before answers that were read are counted as unread.
    else if (this.total > limit / 2) void this.measure();
    if (before !== undefined) return;
    // Bound, as this is done for every answer.
    response.once('close', this.count.bind(this, connection, 0, response));
  }

  /** @param closed the answer that has ended: what it did not send is not counted any more, instead of `bytes` */
  private count(connection: Connection, bytes: number, closed?: ServerResponse): void {
    if (closed) {
      const { responses } = connection;
      const left = connection.bytes - responses.get(closed)!;
      responses.delete(closed);
      bytes = responses.size === 0 && left < LARGE_BYTES ? 0 : left;
    }
    const more = bytes - connection.bytes;
    connection.bytes = bytes;
    if (more === 0) return;
    this.total += more;
    this.mayBeOver = this.total >= this.config.maxUnreadBytes;
    for (const key of connection.keys) {
      const counted = (this.byKey.get(key) ?? 0) + more;
      if (counted > 0) this.byKey.set(key, counted);
      else this.byKey.delete(key);
    }
  }

  private isOver(address: string, more: number): boolean {
    const limit = this.config.maxUnreadBytes;
    const exceeds = (key: string, factor: number) => {
      const counted = (this.byKey.get(key) ?? 0) + more;
      return more > 0 ? counted > factor * limit : counted >= factor * limit;
    };
    if (exceeds(address, 1)) return true;
    const network = networkKeyOf(address);
    return network !== undefined && exceeds(network, ADDRESSES_OF_NETWORK);
  }

  /**
   * Bytes that clients have taken since the answers were sent are no longer counted. One measurement serves all that wait, once in a while.
   */
  private measure(): Promise<void> {
    return (this.measuring ??= this.measureNow(this.measuredAt + MEASURED_AGAIN_MS - performance.now()).finally(
      () => (this.measuring = undefined),
    ));
  }

  private async measureNow(afterMs: number): Promise<void> {
    if (afterMs > 0) await pause(afterMs, undefined, { ref: false });
    const queues = await SendQueues.read();
    this.measuredAt = performance.now();
    for (const connection of this.open.values())
      if (connection.bytes > 0) this.count(connection, pendingOf(connection) + queues.of(connection.key));
  }

  /** Ends answers of the address with the most unread bytes, the longest first. */
  private makeRoom(): void {
    while (this.total > this.config.maxUnreadBytesTotal) {
      const byAddress = new Map<string, { bytes: number; longest: Connection }>();
      for (const connection of this.open.values()) {
        if (connection.bytes === 0 || connection.socket.destroyed) continue;
        const [address] = connection.keys;
        const of = byAddress.get(address!);
        if (!of) byAddress.set(address!, { bytes: connection.bytes, longest: connection });
        else {
          of.bytes += connection.bytes;
          if (connection.bytes > of.longest.bytes) of.longest = connection;
        }
      }
      let most: { bytes: number; longest: Connection } | undefined;
      for (const of of byAddress.values()) if (!most || of.bytes > most.bytes) most = of;
      if (!most) return;
      this.end(most.longest, 'unread-answers');
    }
  }

  /** Ends answers of which the client has taken no byte for as long as it may. */
  private async endStalled(): Promise<void> {
    const waiting: Connection[] = [];
    let mayStall = false;
    for (const connection of this.open.values()) {
      if (connection.bytes > 0 || connection.socket.writableLength > 0) {
        waiting.push(connection);
        mayStall ||= connection.isWaiting;
        if (!connection.isWaiting) connection.since = performance.now();
        connection.isWaiting = true;
      } else connection.isWaiting = false;
    }
    if (!mayStall || this.isComparing) return;
    this.isComparing = true;
    const queues = await SendQueues.read();
    this.isComparing = false;
    const now = performance.now();
    this.measuredAt = now;
    for (const connection of waiting) {
      const { socket } = connection;
      if (socket.destroyed) continue;
      const queued = queues.of(connection.key);
      const pending = pendingOf(connection);
      this.count(connection, pending + queued);
      const taken = socket.bytesWritten - (socket.writableLength - takenOfChunk(socket)) - queued;
      if (pending + queued === 0 || taken !== connection.taken) {
        connection.taken = taken;
        connection.since = now;
      } else if (now - connection.since >= this.config.unreadTimeoutMs) this.end(connection, 'timeout');
    }
  }

  /** The kernel discards what it holds, too. */
  private end(connection: Connection, reason: 'timeout' | 'unread-answers'): void {
    this.refused.inc({ reason });
    this.count(connection, 0);
    connection.socket.resetAndDestroy();
  }

  private tooMany(): AppError {
    this.refused.inc({ reason: 'unread-bytes' });
    return new AppError('tooManyRequests', 'Too many bytes of responses that this address has not read', {
      headers: { 'retry-after': '1' },
    });
  }
}
