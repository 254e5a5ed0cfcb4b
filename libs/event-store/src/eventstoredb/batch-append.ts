import { randomUUID } from 'node:crypto';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import {
  AppendTooLarge,
  EventStoreUnavailable,
  WrongExpectedRevision,
  type AppendResult,
  type Revision,
  type StreamName,
} from '../event-store.js';
import { unavailable, type EventStoreDbConnection } from './eventstoredb-connection.js';
import { toText } from './log-position.js';
import { appendRequest, byteLength, type EncodedEvent } from './messages.js';

interface Pending {
  stream: StreamName;
  events: readonly EncodedEvent[];
  expected: Revision;
  timer: NodeJS.Timeout;
  resolve: (result: AppendResult) => void;
  reject: (error: Error) => void;
}

type Batches = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/**
 * All appends of this process over one call, each answered by its own message.
 *
 * The client has the same in `appendToStream`, but keeps the pending appends of all its connections in one list: the failure of one
 * connection rejects the appends of every other, and the response that then arrives for one of those is thrown where it cannot be caught.
 */
export class BatchAppend {
  private readonly pending = new Map<string, Pending>();
  private batches: Promise<Batches> | undefined;

  constructor(
    private readonly connection: EventStoreDbConnection,
    private readonly timeoutMs: number,
  ) {}

  /**
   * Appends given in one turn are sent, and processed by the server, in their order.
   * @param name of the stream at the server
   * @throws WrongExpectedRevision, AppendTooLarge, EventStoreUnavailable
   */
  async append(
    stream: StreamName,
    name: string,
    events: readonly EncodedEvent[],
    expected: Revision,
  ): Promise<AppendResult> {
    const id = randomUUID();
    const request = appendRequest(id, name, events, expected);
    const batches = await (this.batches ??= this.openCall());
    return new Promise((resolve, reject) => {
      const late = () => {
        this.pending.delete(id);
        reject(new EventStoreUnavailable(`event store: an append was not answered within ${this.timeoutMs} ms`));
      };
      const timer = setTimeout(late, this.timeoutMs);
      this.pending.set(id, { stream, events, expected, timer, resolve, reject });
      batches.write(request);
    });
  }

  private async openCall(): Promise<Batches> {
    try {
      const batches = await this.connection.call((client, metadata, options) => client.batchAppend(metadata, options));
      const ended = (error: Error) => {
        this.connection.ended(batches);
        this.batches = undefined;
        for (const { timer, reject } of this.pending.values()) {
          clearTimeout(timer);
          reject(unavailable(error));
        }
        this.pending.clear();
      };
      batches.on('data', (answer: BatchAppendResp) => this.answered(answer));
      batches.on('error', ended);
      batches.on('end', () => ended(new Error('the server ended the call')));
      return batches;
    } catch (error) {
      this.batches = undefined;
      throw error;
    }
  }

  private answered(answer: BatchAppendResp): void {
    const id = answer.getCorrelationId()?.getString() ?? '';
    const waiting = this.pending.get(id);
    if (!waiting) return;
    this.pending.delete(id);
    clearTimeout(waiting.timer);
    const position = answer.getSuccess()?.getPosition();
    if (!position) return waiting.reject(faultOf(answer, waiting));
    waiting.resolve({
      revision: Number(answer.getSuccess()!.getCurrentRevision()),
      position: toText({
        commit: BigInt(position.getCommitPosition()),
        prepare: BigInt(position.getPreparePosition()),
      }),
    });
  }
}

const faultOf = (answer: BatchAppendResp, { stream, events, expected }: Pending): Error => {
  const status = answer.getError();
  const details = status?.getDetails();
  const type = details?.getTypeName().split('.').at(-1);
  if (type === 'WrongExpectedVersion') {
    const wrong = shared.WrongExpectedVersion.deserializeBinary(details!.getValue_asU8());
    const actual = wrong.hasCurrentStreamRevision() ? Number(wrong.getCurrentStreamRevision()) : -1;
    return new WrongExpectedRevision(stream, expected, actual);
  }
  if (type === 'MaximumAppendSizeExceeded') return new AppendTooLarge(stream, byteLength(events));
  return new EventStoreUnavailable(
    `event store: an append was answered with ${type ?? 'nothing'}: ${status?.getMessage()}`,
  );
};
