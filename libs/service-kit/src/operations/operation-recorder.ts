import { setTimeout as pause } from 'node:timers/promises';
import {
  busRights,
  MAX_RECORD_BYTES,
  recordSubject,
  type BusParticipant,
  type OperationRecordMessage,
  type OperationStartMessage,
  type RecorderMessage,
} from '@attestry/contracts';
import { backOffMs, type Clock, type Ids } from '@attestry/event-store';
import { inTime, type MessageBus, type OutgoingMessage } from '@attestry/messaging';
import type { Logger } from '../process/logger.js';
import { RepeatedRecords, type RepeatedCall } from './repeated-records.js';

/** Least time for an awaited message at the deadline, milliseconds. */
const LEAST_MS = 500;
/** Longest a record waits for its batch. */
const BATCH_MS = 250;
const BATCH_SIZE = 500;
/** Records that wait during an outage of the feed; further calls wait for its end, and their records are lost at the deadline. */
const MAX_WAITING = 10_000;
/** The same as JSON: metadata and sealed data may be large. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A message that fails alone this often while another one is accepted is refused. */
const REFUSALS = 2;
const ALIVE_MS = 10_000;
const RETRY = { firstMs: 50, maxMs: 1000 };
/** Longest wait for room for the record of repeated calls. */
const REPEATED_MS = 60_000;
/** Longest wait for the last batch at shutdown. */
const CLOSE_MS = 5000;

/** Dependencies of the recorder on its process. */
export interface RecorderNeeds {
  bus: MessageBus;
  clock: Clock;
  ids: Ids;
  logger: Pick<Logger, 'warn' | 'error'>;
}

interface Waiting {
  message: OutgoingMessage;
  /** See {@link bytesOf}. */
  bytes: number;
  /** How often the feed accepted another message when it did not accept this one. */
  refusals: number;
}

/**
 * Sends the records that no event carries to the durable feed (ADR 0072): in batches that no answer waits for, so that a crash may lose those
 * of the last second.
 */
export class OperationRecorder {
  private readonly instance: string;
  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  private publishing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private alive: NodeJS.Timeout | undefined;
  private isClosed = false;
  private readonly repeated = new RepeatedRecords((record) => this.addRepeated(record));

  constructor(
    private readonly needs: RecorderNeeds,
    private readonly participant: BusParticipant,
  ) {
    this.instance = needs.ids.uuid();
  }

  /** Announces this recorder; nothing where the participant records no calls. */
  open(): this {
    if (!busRights(this.participant).publishes.includes(recordSubject('recorder', this.participant))) return this;
    this.sendState('started');
    this.alive = setInterval(() => this.sendState('alive'), ALIVE_MS).unref();
    return this;
  }

  /** @returns a promise where too many records wait @throws when they still do at the deadline: the record is not sent */
  add(record: OperationRecordMessage, deadline: number): Promise<void> | undefined {
    const message = this.messageOf('record', record);
    const bytes = bytesOf(record);
    if (bytes > MAX_RECORD_BYTES) return this.logRefused(message, new Error('not JSON, or too large'));
    if (this.waiting.length >= MAX_WAITING || this.waitingBytes + bytes > MAX_WAITING_BYTES)
      return this.inTime(this.flush(), deadline).then(() => this.add(record, deadline));
    this.push(message, bytes);
    if (this.waiting.length >= BATCH_SIZE || this.isClosed) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), BATCH_MS).unref();
    return undefined;
  }

  /** Adds the record of a call that anyone can make: of many in a minute one record has the number. See {@link add}. */
  addRepeatable(record: OperationRecordMessage, call: RepeatedCall, deadline: number): Promise<void> | undefined {
    return this.repeated.isKept(record, call) ? this.add(record, deadline) : undefined;
  }

  /** Resolves when the record is durable. @throws when it is not at the deadline; it may be later */
  write(record: OperationRecordMessage, deadline: number): Promise<void> {
    return this.inTime(this.needs.bus.publish([this.messageOf('record', record)]), deadline);
  }

  /** Resolves and throws like {@link write}. */
  start(start: OperationStartMessage): Promise<void> {
    return this.inTime(this.needs.bus.publish([this.messageOf('started', start)]), start.deadline);
  }

  /** Resolves when all records added so far are durable, however long the feed is unreachable. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.waiting.length) return Promise.resolve();
    return (this.publishing ??= this.publishWaiting());
  }

  async close(): Promise<void> {
    clearInterval(this.alive);
    this.repeated.close();
    if (this.alive && !this.isClosed) this.sendState('closed');
    this.isClosed = true;
    await Promise.race([this.flush(), pause(CLOSE_MS, undefined, { ref: false })]);
  }

  private addRepeated(record: OperationRecordMessage): void {
    const { requestId, operation } = record;
    this.add(record, Date.now() + REPEATED_MS)?.catch((error: unknown) =>
      this.needs.logger.error({ requestId, operation, error: String(error) }, 'operation event not recorded'),
    );
  }

  private async publishWaiting(): Promise<void> {
    let size = BATCH_SIZE;
    let isLogged = false;
    for (let attempt = 1; this.waiting.length > 0;) {
      const batch = this.waiting.slice(0, size);
      const error = await this.publish(batch);
      if (error === undefined) {
        [attempt, size] = [1, Math.min(size * 2, BATCH_SIZE)];
        continue;
      }
      if (!isLogged)
        this.needs.logger.warn({ participant: this.participant, error: String(error) }, 'operation records delayed');
      isLogged = true;
      // Down to the one message that the feed may refuse.
      if (batch.length === 1) await this.dropRefused(error);
      size = Math.ceil(batch.length / 2);
      await pause(backOffMs(attempt++, RETRY), undefined, { ref: false });
    }
    // In the same turn: a record that is added from now on begins another publication.
    this.publishing = undefined;
  }

  /** @returns the failure */
  private async publish(batch: readonly Waiting[]): Promise<unknown> {
    try {
      await this.needs.bus.publish(batch.map(({ message }) => message));
    } catch (error) {
      return error ?? new Error('not published');
    }
    this.remove(batch);
    return undefined;
  }

  /** The first message fails: it is refused, and not the feed unreachable, where the last one is accepted. */
  private async dropRefused(error: unknown): Promise<void> {
    const [first, last] = [this.waiting[0]!, this.waiting.at(-1)!];
    if (first === last || (await this.publish([last])) !== undefined || ++first.refusals < REFUSALS) return;
    this.remove([first]);
    this.logRefused(first.message, error);
  }

  private push(message: OutgoingMessage, bytes: number): void {
    this.waiting.push({ message, bytes, refusals: 0 });
    this.waitingBytes += bytes;
  }

  /** @param batch messages that follow each other */
  private remove(batch: readonly Waiting[]): void {
    this.waiting.splice(this.waiting.indexOf(batch[0]!), batch.length);
    for (const { bytes } of batch) this.waitingBytes -= bytes;
  }

  private logRefused({ data }: OutgoingMessage, error: unknown): undefined {
    const { requestId, operation } = data as Partial<OperationRecordMessage>;
    const fields = { participant: this.participant, requestId, operation, error: String(error) };
    this.needs.logger.error(fields, 'operation record refused by the feed');
  }

  private sendState(state: RecorderMessage['state']): void {
    const { instance, participant } = this;
    const message: RecorderMessage = { instance, participant, state, at: this.needs.clock.now().toISOString() };
    this.push(this.messageOf('recorder', message), 0);
    void this.flush();
  }

  private messageOf(kind: Parameters<typeof recordSubject>[0], data: unknown): OutgoingMessage {
    return { id: this.needs.ids.uuid(), subject: recordSubject(kind, this.participant), data };
  }

  private inTime(publishing: Promise<void>, deadline: number): Promise<void> {
    const ms = Math.max(LEAST_MS, deadline - Date.now());
    return inTime(publishing, ms, () => new Error(`not acknowledged within ${ms} ms`));
  }
}

/** Length as JSON, where a character counts as one byte; infinite for data that JSON cannot represent. */
const bytesOf = (data: unknown): number => {
  try {
    return JSON.stringify(data).length;
  } catch {
    return Infinity;
  }
};

/** The recorders of a process, one for each participant. */
export class OperationRecorders {
  private readonly byParticipant = new Map<BusParticipant, OperationRecorder>();

  /** @param busOf the bus with the rights of the participant */
  constructor(
    private readonly needs: Omit<RecorderNeeds, 'bus'>,
    private readonly busOf: (participant: BusParticipant) => MessageBus,
  ) {}

  of(participant: BusParticipant): OperationRecorder {
    let recorder = this.byParticipant.get(participant);
    if (!recorder) {
      recorder = new OperationRecorder({ ...this.needs, bus: this.busOf(participant) }, participant).open();
      this.byParticipant.set(participant, recorder);
    }
    return recorder;
  }

  /** Resolves when all records added so far are durable, and at the latest after `maxMs`: during an outage of the feed they keep waiting. */
  async flush(maxMs: number): Promise<void> {
    const flushing = [...this.byParticipant.values()].map((recorder) => recorder.flush());
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, maxMs)));
    await Promise.race([Promise.all(flushing), late]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.byParticipant.values()].map((recorder) => recorder.close()));
  }
}
