import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  checkKnown,
  CheckpointedSubscription,
  EventStore,
  Leases,
  readEvent,
  Streams,
  type Checkpoints,
  type RecordedEvent,
} from '@attestry/event-store';
import { isErased, KeyNotFound, KeyVault } from '@attestry/keys';
import { CHECKPOINTS, LOGGER, Metrics, PlatformConfig, type Logger } from '@attestry/service-kit';
import { invitationToken } from '../invite-member/invitation-token.js';
import { People } from '../people/people.js';
import { memberStatus } from '../tenant/membership.decisions.js';
import type { MemberInvitedData } from '../tenant/tenant.events.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { invitationMail } from './invitation-mail.js';
import { Mailer, MailRefused } from './mailer.js';

const NAME = 'management.invitations';

/**
 * Sends the e-mail of every invitation that is stored: from the subscription, so that none is lost with a process, and with the
 * secret that the event has sealed. Its key is destroyed once the e-mail was handed over: an event that comes again finds it
 * gone, and so does whoever gets hold of the store later. A crash between the two sends the same e-mail twice.
 *
 * While the mail server is away this waits and tries again, but the process stays ready: nobody else needs it.
 */
@Injectable()
export class SendInvitations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private subscription: CheckpointedSubscription | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly leases: Leases,
    @Inject(CHECKPOINTS) private readonly checkpoints: Checkpoints,
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly people: People,
    private readonly mailer: Mailer,
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
      onError: (error) => {
        this.metrics.counter('reactionFailures').inc({ reaction: NAME });
        this.logger.error({ reaction: NAME, error: error.message }, 'reaction failed');
      },
    });
    this.subscription = subscription.start();
    this.metrics.lag.follow({
      kind: 'reaction',
      name: NAME,
      store,
      categories,
      position: () => subscription.health.position,
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  private async react(stored: RecordedEvent): Promise<void> {
    const event = readEvent(tenant, stored);
    if (event.type !== 'MemberInvited') return;
    const { tenantId, invitationId } = event.data;
    const secret = await this.secretOf(event.data);
    if (secret === undefined) return;
    try {
      await this.send(event.data, secret);
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      this.logger.error(
        { tenantId, invitationId, error: error.message },
        'an invitation was refused by the mail server',
      );
    }
    await this.vault.destroy(tenantId, [invitationId]);
  }

  /** `undefined` when the e-mail was handed over before. */
  private async secretOf({ tenantId, invitationId, sealedSecret }: MemberInvitedData): Promise<string | undefined> {
    try {
      const secret = await this.vault.open(tenantId, 'delivery', sealedSecret);
      return isErased(secret) ? undefined : secret;
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      this.logger.warn({ tenantId, invitationId }, 'an invitation without a key');
      return undefined;
    }
  }

  /** Nothing for an invitation that has been replaced, accepted or withdrawn meanwhile, or has expired. */
  private async send({ tenantId, userId, invitationId, expiresAt }: MemberInvitedData, secret: string): Promise<void> {
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    const member = state.status === 'active' ? state.members.get(userId) : undefined;
    if (state.status !== 'active' || member?.status !== 'invited' || member.invitationId !== invitationId) return;
    if (memberStatus(member, this.people.now()) === 'Expired') return;
    const user = await this.people.user(userId);
    const { email } = await this.people.open(user.status === 'absent' ? {} : user);
    if (email === '') return;
    const token = invitationToken(this.vault, { tenantId, userId, invitationId, secret });
    const link = `${this.config.invitationUrl}?token=${token}`;
    await this.mailer.send(invitationId, invitationMail(email, { tenantName: state.name, link, expiresAt }));
  }
}
