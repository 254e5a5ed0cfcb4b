import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, type Clock } from '@attestry/event-store';
import { MessageBus } from '@attestry/messaging';
import { CLOCK, LOGGER, Metrics, UnchangedRows, PlatformConfig, type Logger } from '@attestry/service-kit';
import { BUS_PARTICIPANTS, busRights, PLATFORM_TENANT, recordSubject } from '@attestry/contracts';
import { EventsReadModel, retainedFrom, type RecorderRow } from '../event-lists/events.read-model.js';
import type { OperationRow } from '../event-lists/operation-rows.js';
import { operationEventId } from '../operation-stream/operation-event-id.js';
import type { OperationStreamEvent } from '../operation-stream/operation-stream.events.js';
import { RecordOperations, type NewOperationEvent } from '../record-operations/record-operations.js';
import { namedActor } from '../event-lists/event-actors.js';
import { lostRecorders, type LostRecorder } from './lost-recorders.js';

const RUN_MS = 1000;
/** How long after the deadline an outcome may still arrive. */
const GRACE_MS = 2000;
/** STARTs that one run closes. */
const PORTION = 400;
const DISCARD_MS = 3_600_000;
const RECORDERS = BUS_PARTICIPANTS.filter((participant) =>
  busRights(participant).publishes.includes(recordSubject('recorder', participant)),
);

/**
 * Closes STARTs whose outcome never came, notices recorders that ended without their last flush, and deletes rows whose retention is over
 * (ADR 0073). Runs where the feed is consumed.
 */
@Injectable()
export class CloseOperations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private worker: LeasedWorker | undefined;
  private lastDiscard = 0;
  private readonly unchangedOperations: UnchangedRows;
  private readonly unchangedRecorders: UnchangedRows;
  private recorders: RecorderRow[] = [];
  /** Since when signs of recorders are received here, milliseconds since the epoch. */
  private heldSince: number | undefined;

  constructor(
    private readonly readModel: EventsReadModel,
    private readonly writer: RecordOperations,
    private readonly bus: MessageBus,
    private readonly config: PlatformConfig,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.unchangedOperations = new UnchangedRows([readModel]);
    this.unchangedRecorders = new UnchangedRows([readModel]);
  }

  onApplicationBootstrap(): void {
    // From 0, so that the first unclean end is an increase.
    for (const participant of RECORDERS) this.metrics.counter('uncleanEnds').inc({ participant }, 0);
    this.worker = new LeasedWorker({
      name: 'analytics.sweep',
      batch: async () => {
        if (this.writer.isHeld) await this.sweep();
        else this.heldSince = undefined;
        return RUN_MS;
      },
      onError: ({ message: error }) => this.logger.error({ error }, 'closing overdue operations failed'),
    }).start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.worker?.stop();
  }

  private async sweep(): Promise<void> {
    const now = this.clock.now();
    this.heldSince ??= now.getTime();
    await this.closeOverdue(now);
    await this.reportLostRecorders(now);
    if (now.getTime() - this.lastDiscard > DISCARD_MS) {
      this.lastDiscard = now.getTime();
      await this.readModel.discardBefore(retainedFrom(now, this.config));
    }
  }

  private async closeOverdue(now: Date): Promise<void> {
    const overdue = () => this.readModel.overdue(now.getTime() - GRACE_MS, PORTION);
    await this.unchangedOperations.queryOnceChanged(now, async () => {
      if (!(await overdue()).length) return ((await this.readModel.nextDeadline()) ?? Infinity) + GRACE_MS;
      if (!(await this.isUpToDate())) return undefined;
      const rows = await overdue();
      await this.writer.append(rows.map((row) => closingEvent(row, now.toISOString())));
      return undefined;
    });
  }

  /** An outcome that was sent before now is in the rows, also after a long stop. */
  private async isUpToDate(): Promise<boolean> {
    if (!(await this.writer.waitFor(await this.bus.head(), RUN_MS))) return false;
    return this.readModel.running.waitForHead(RUN_MS);
  }

  private async reportLostRecorders(now: Date): Promise<void> {
    if (!(await this.lostRecorders(now)).length) return;
    // While the feed cannot be read, no signs are received either: a sign that is missing then says nothing.
    const { heldSince } = this;
    this.heldSince = undefined;
    if (!(await this.isUpToDate())) return;
    this.heldSince = heldSince;
    // Closed meanwhile, or alive, by a message that was on its way.
    const lost = await this.lostRecorders(this.clock.now());
    for (const { instance, participant, lastSign: last, nextStart } of lost) {
      const event: OperationStreamEvent = {
        type: 'RecorderReported',
        data: { instance, participant: participant as 'gateway', state: 'lost' },
      };
      await this.writer.append([ownEvent(event, PLATFORM_TENANT, instance, now.toISOString())]);
      this.metrics.counter('uncleanEnds').inc({ participant });
      const bounds = { after: new Date(last).toISOString(), before: nextStart };
      this.logger.warn({ participant, instance, ...bounds }, 'unclean end: operation records may be missing');
    }
  }

  private async lostRecorders(now: Date): Promise<LostRecorder<RecorderRow & { lastSign: number }>[]> {
    await this.unchangedRecorders.queryOnceChanged(now, async () => {
      this.recorders = await this.readModel.recorders();
      return Infinity;
    });
    const lastSign = (row: RecorderRow) => Math.max(Date.parse(row.seen_at), this.writer.lastSignOf(row) ?? 0);
    return lostRecorders(
      this.recorders.map((row) => ({ ...row, lastSign: lastSign(row) })),
      // Processes on one data folder run one after the other.
      this.config.hasDataFolder ? undefined : { now: now.getTime(), heldSince: this.heldSince! },
    );
  }
}

/** The outcome of an operation that reported none. */
const closingEvent = (row: OperationRow, at: string): NewOperationEvent => {
  const error = { status: 503, code: 'ServiceUnavailable', message: 'No outcome before the deadline' };
  const data = {
    prefix: row.prefix,
    category: row.category,
    operation: row.operation,
    metadata: { closedBy: 'analytics', error },
    ...namedActor(row.actor),
  };
  return ownEvent({ type: 'OperationClosed', data }, row.tenant_id, row.request_id, at);
};

const ownEvent = (
  event: OperationStreamEvent,
  tenantId: string,
  requestId: string,
  occurredAt: string,
): NewOperationEvent => ({
  id: operationEventId(tenantId, requestId, 'outcome'),
  event,
  tenantId,
  requestId,
  occurredAt,
  sourceSequence: '',
  actor: 'service:analytics',
});
