import type { CallOptions, Client, Metadata, ServiceError } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import grpcStreams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { EventStoreUnavailable } from '../event-store.js';

/**
 * The used part of the client: its connection, with discovery, TLS, credentials and reconnecting. Requests are sent from here with its
 * generated messages (ADR 0016: the client's own reads and appends lose errors).
 */
interface Connection {
  getGRPCClient(of: typeof StreamsClient, name: string): Promise<StreamsClient>;
  callArguments(base: object, options: CallOptions): [Metadata, CallOptions];
  /** Leaves a failed connection; the next call creates a new one. */
  handleError(client: Client, error: Error): Promise<void>;
}

/**
 * How long a read that has its result waits for the server to end it, which happens at once where a number was requested. Servers close a
 * connection on which many calls are reset, and every read on it fails.
 */
const LAST_WORD_MS = 250;

/** A call in progress. */
export interface Call {
  cancel(): void;
  on(event: 'error', listener: (error: ServiceError) => void): unknown;
}

/** gRPC's ABORTED: the server ends a subscription that cannot keep up. */
const ABORTED = 10;
export const isTooSlow = (error: unknown): boolean => (error as Partial<ServiceError>).code === ABORTED;

export const unavailable = (error: unknown): EventStoreUnavailable =>
  error instanceof EventStoreUnavailable
    ? error
    : new EventStoreUnavailable(`event store: ${(error as Error).message}`, { cause: error });

/** One connection to a server or cluster, created on demand and again after a failure. */
export class EventStoreDbConnection {
  private readonly connection: Connection;
  private readonly calls = new Set<Call>();
  private client: StreamsClient | undefined;
  private closed = false;

  /**
   * @param url `esdb://…` as the client takes it
   * @param onFailure a connection failed; it is reconnected
   * @throws Error when the address cannot be used
   */
  constructor(
    url: string,
    private readonly onFailure: (error: Error) => void,
  ) {
    // The client accepts it and verifies anyway; a user who sets it would look for the fault elsewhere.
    if (/[?&]tlsVerifyCert=false/i.test(url))
      throw new Error(
        'tlsVerifyCert=false has no effect with EventStoreDB: name the certificate authority with tlsCAFile',
      );
    this.connection = EventStoreDBClient.connectionString(url) as unknown as Connection;
  }

  /** Begins a call on the current connection. The caller handles its end and its faults, except those of the connection. */
  async call<Kind extends Call>(begin: (client: StreamsClient, metadata: Metadata, options: CallOptions) => Kind) {
    if (this.closed) throw new EventStoreUnavailable('the event store is closed');
    let client: StreamsClient;
    try {
      this.client = client = await this.connection.getGRPCClient(grpcStreams.StreamsClient, 'streams');
    } catch (error) {
      throw unavailable(error);
    }
    const call = begin(client, ...this.connection.callArguments({}, { deadline: Infinity }));
    this.calls.add(call);
    call.on('error', (error) => {
      this.ended(call);
      if (this.closed) return;
      this.connection.handleError(client, error).catch(this.onFailure);
    });
    if (this.closed) call.cancel();
    return call;
  }

  ended(call: Call): void {
    this.calls.delete(call);
  }

  /**
   * Passes on the responses to a read as they arrive, until they end or `onResponse` returns false.
   *
   * @param silenceMs the longest time without a response
   * @throws EventStoreUnavailable
   */
  async read(request: ReadReq, silenceMs: number, onResponse: (response: ReadResp) => boolean): Promise<void> {
    const call = await this.call((client, metadata, options) => client.read(request, metadata, options));
    let timer: NodeJS.Timeout | undefined;
    let enough = false;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(
          () => reject(new EventStoreUnavailable(`event store: no answer for ${silenceMs} ms`)),
          silenceMs,
        );
        call.on('data', (response: ReadResp) => {
          if (enough) return;
          timer!.refresh();
          try {
            if (onResponse(response)) return;
            enough = true;
            clearTimeout(timer);
            timer = setTimeout(resolve, LAST_WORD_MS);
          } catch (error) {
            reject(error as Error);
          }
        });
        call.on('end', resolve);
        call.on('error', (error) => (enough ? resolve() : reject(unavailable(error))));
      });
    } finally {
      clearTimeout(timer);
      this.ended(call);
      call.cancel();
    }
  }

  /** Ends every call. */
  close(): void {
    this.closed = true;
    for (const call of this.calls) call.cancel();
    this.client?.close();
  }
}
