import type { CallOptions, Client, Metadata, ServiceError } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import grpcStreams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { EventStoreUnavailable } from '../event-store.js';

/**
 * What is used of the client: its connection, with discovery, TLS, credentials and reconnecting. Requests are made here
 * from its generated messages; the reasons are in docs/adr/0016-eventstoredb-client.md.
 */
interface Connection {
  getGRPCClient(of: typeof StreamsClient, name: string): Promise<StreamsClient>;
  callArguments(base: object, options: CallOptions): [Metadata, CallOptions];
  /** Leaves a connection that failed; the next call makes a new one. */
  handleError(client: Client, error: Error): Promise<void>;
}

/**
 * A read that has what it wants waits so long for the server to end it, which comes at once where a number was asked for.
 * Servers close a connection on which many calls are reset, and every read on it fails.
 */
const LAST_WORD_MS = 250;

/** A call under way. */
export interface Call {
  cancel(): void;
  on(event: 'error', listener: (error: ServiceError) => void): unknown;
}

/** gRPC's ABORTED: with it the server ends a subscription that cannot keep up. */
const ABORTED = 10;
export const isTooSlow = (error: unknown): boolean => (error as Partial<ServiceError>).code === ABORTED;

export const unavailable = (error: unknown): EventStoreUnavailable =>
  error instanceof EventStoreUnavailable
    ? error
    : new EventStoreUnavailable(`event store: ${(error as Error).message}`, { cause: error });

/** One connection to a server or cluster, made when it is needed and anew when it failed. */
export class EventStoreDbConnection {
  private readonly connection: Connection;
  private readonly calls = new Set<Call>();
  private client: StreamsClient | undefined;
  private closed = false;

  /**
   * @param url `esdb://…` as the client takes it
   * @param onFailure a connection failed; it is made anew
   * @throws Error when the address cannot be used
   */
  constructor(
    url: string,
    private readonly onFailure: (error: Error) => void,
  ) {
    // The client takes it and verifies all the same; who asks for it would look for the fault elsewhere.
    if (/[?&]tlsVerifyCert=false/i.test(url))
      throw new Error(
        'tlsVerifyCert=false has no effect with EventStoreDB: name the certificate authority with tlsCAFile',
      );
    this.connection = EventStoreDBClient.connectionString(url) as unknown as Connection;
  }

  /** Begins a call on the current connection. Its end and its faults are the caller's, but for the connection's. */
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
   * Hands over the answers to a read as they come, until they end or `onResponse` answers false.
   *
   * @param silenceMs the longest time without an answer
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
