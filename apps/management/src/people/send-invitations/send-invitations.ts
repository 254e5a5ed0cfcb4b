import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  checkKnown,
  CheckpointedSubscription,
  EventStore,
  LeasedWorker,
  Leases,
  readEvent,
  Streams,
  type Checkpoints,
  type RecordedEvent,
  type Term,
} from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, Sealing } from '@attestry/keys';
import { CHECKPOINTS, LOGGER, Metrics, PlatformConfig, type Logger } from '@attestry/service-kit';
import { invitationToken } from '../invitation/invitation-token.js';
import { People } from '../../users/people/people.js';
import { memberStatus } from '../../tenants/tenant/membership.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';
import { DeferredInvitations, type DeferredInvitation } from './deferred-invitations.js';
import { invitationMail } from './invitation-mail.js';
import { MailDeferred, Mailer, MailRefused } from './mailer.js';

const NAME = 'management.invitations';
const RETRIES = `${NAME}.deferred`;
/** Between two runs over the deferred invitations, milliseconds. */
const PAUSE_MS = 5000;

type Invited = Omit<DeferredInvitation, 'tries' | 'nextTryAt'>;

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
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly people: People,
    private readonly mailer: Mailer,
    private readonly deferred: DeferredInvitations,
    private readonly metrics: Metrics,
    private readonly config: PlatformConfig,
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
    const { tenantId, invitationId } = event.data;
    try {
      await this.handOver(event.data);
    } catch (error) {
      if (!(error instanceof MailDeferred)) throw error;
      if (await this.deferred.add(event.data)) return;
      this.logger.error({ tenantId, invitationId, error: error.message }, 'invitation dropped, too many deferred');
      await this.sealing.destroyDataKeys(tenantId, [invitationId]);
    }
  }

  /** The deferred invitations that are due; a failure that does not concern a single e-mail ends the run. */
  private async retryDeferred(term: Term): Promise<number> {
    for (const invitation of await this.deferred.due()) {
      // A process that was paused for longer than its lease sends nothing: another one may be sending this e-mail.
      if (term.signal.aborted || !term.isHeld) return 0;
      try {
        await this.handOver(invitation);
      } catch (error) {
        if (!(error instanceof MailDeferred)) throw error;
        await this.deferred.postpone(invitation);
        continue;
      }
      await this.deferred.remove(invitation);
    }
    return PAUSE_MS;
  }

  /** Sends the e-mail unless it was sent, and destroys the key of its secret. @throws MailDeferred */
  private async handOver(invited: Invited): Promise<void> {
    const { tenantId, invitationId } = invited;
    const secret = await this.secretOf(invited);
    if (secret === undefined) return;
    try {
      await this.send(invited, secret);
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      this.logger.error({ tenantId, invitationId, error: error.message }, 'invitation refused by the mail server');
    }
    await this.sealing.destroyDataKeys(tenantId, [invitationId]);
  }

  /** `undefined` when the e-mail was sent before. */
  private async secretOf({ tenantId, invitationId, sealedSecret }: Invited): Promise<string | undefined> {
    try {
      const secret = await this.sealing.openSealed(tenantId, 'delivery', sealedSecret);
      return isErased(secret) ? undefined : secret;
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      this.logger.warn({ tenantId, invitationId }, 'key of invitation missing');
      return undefined;
    }
  }

  /** No e-mail for an invitation that has been replaced, accepted or withdrawn meanwhile, or has expired. */
  private async send({ tenantId, userId, invitationId, expiresAt }: Invited, secret: string): Promise<void> {
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    const member = state.status === 'active' ? state.members.get(userId) : undefined;
    if (state.status !== 'active' || member?.status !== 'invited' || member.invitationId !== invitationId) return;
    if (memberStatus(member, this.people.now()) === 'Expired') return;
    const user = await this.people.user(userId);
    const { email } = await this.people.openPerson(user.status === 'absent' ? {} : user);
    if (email === '') return;
    const token = invitationToken(this.macs, { tenantId, userId, invitationId, secret });
    const link = `${this.config.invitationUrl}?token=${token}`;
    await this.mailer.send(invitationId, invitationMail(email, { tenantName: state.name, link, expiresAt }));
  }
}
