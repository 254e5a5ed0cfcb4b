import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  checkKnown,
  CheckpointedSubscription,
  EventStore,
  LeasedWorker,
  Leases,
  readEvent,
  type Checkpoints,
  type RecordedEvent,
  type Term,
} from '@attestry/event-store';
import { CHECKPOINTS, LOGGER, Metrics, type Logger } from '@attestry/service-kit';
import { tenant } from '../../tenants/tenant/tenant.state.js';
import { DeferredInvitations } from './deferred-invitations.js';
import { InvitationMails } from './invitation-mails.js';
import { MailDeferred } from './mailer.js';

const NAME = 'management.invitations';
const RETRIES = `${NAME}.deferred`;
/** Between two runs over the deferred invitations, milliseconds. */
const PAUSE_MS = 5000;

/**
 * Sends the e-mail of every stored invitation: from the subscription, so that a crash loses none, and with the secret that is sealed in the
 * event. Its key is destroyed once the e-mail is sent: a redelivered event finds it destroyed, and a later copy of the store cannot reveal
 * it. A crash between the two sends the same e-mail twice.
 *
 * An e-mail that the server defers for its recipient is retried apart with back-off, so that it does not hold up the others.
 * While the mail server is unreachable this waits and retries, but the process stays ready: no request needs the mail server.
 */
@Injectable()
export class SendInvitations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private subscription: CheckpointedSubscription | undefined;
  private retries: LeasedWorker | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    @Inject(CHECKPOINTS) private readonly checkpoints: Checkpoints,
    private readonly mails: InvitationMails,
    private readonly deferred: DeferredInvitations,
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { store, leases, checkpoints } = this;
    const categories = [tenant.category];
    const subscription = new CheckpointedSubscription({
      name: NAME,
      store,
      leases,
      checkpoints,
      categories,
      handle: async (events) => {
        checkKnown([tenant], events);
        for (const event of events) await this.react(event);
      },
      onError: (error) => this.failed(NAME, error),
    });
    this.subscription = subscription.start();
    this.metrics.lag.follow({
      kind: 'reaction',
      name: NAME,
      store,
      categories,
      position: () => subscription.health.position,
    });
    // Not a periodic job: its failures would make the process unready.
    this.retries = new LeasedWorker({
      name: RETRIES,
      lease: { leases, holder: randomUUID() },
      batch: (_, term) => this.retryDeferred(term),
      backOff: { firstMs: PAUSE_MS, maxMs: PAUSE_MS },
      onError: (error) => this.failed(RETRIES, error),
    }).start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.subscription?.close(), this.retries?.stop()]);
  }

  private failed(reaction: string, { message }: Error): void {
    this.metrics.counter('reactionFailures').inc({ reaction });
    this.logger.error({ reaction, error: message }, 'reaction failed');
  }

  private async react(stored: RecordedEvent): Promise<void> {
    const event = readEvent(tenant, stored);
    if (event.type !== 'MemberInvited') return;
    try {
      await this.mails.handOver(event.data);
    } catch (error) {
      if (!(error instanceof MailDeferred)) throw error;
      if (await this.deferred.add(event.data)) return;
      await this.mails.drop(event.data, error);
    }
  }

  /** The deferred invitations that are due; a failure that does not concern a single e-mail ends the run. */
  private async retryDeferred(term: Term): Promise<number> {
    for (const invitation of await this.deferred.due()) {
      // A process that was paused for longer than its lease sends nothing: another one may be sending this e-mail.
      if (term.signal.aborted || !term.isHeld) return 0;
      try {
        await this.mails.handOver(invitation);
      } catch (error) {
        if (!(error instanceof MailDeferred)) throw error;
        await this.deferred.postpone(invitation);
        continue;
      }
      await this.deferred.remove(invitation);
    }
    return PAUSE_MS;
  }
}
