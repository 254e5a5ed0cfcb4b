import { Inject, Injectable } from '@nestjs/common';
import { actorOf, type OperationContext } from '@attestry/contracts';
import { Streams, type Clock, type EventContext, type Ids } from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, PLATFORM, Sealing, type Sealed } from '@attestry/keys';
import { CLOCK, IDS, LOGGER, type Logger } from '@attestry/service-kit';
import { inviteUser } from '../management-user/management-user.decisions.js';
import {
  managementUser,
  managementUserStream,
  type ManagementUserState,
} from '../management-user/management-user.state.js';
import { userEmail } from '../management-user/user-email.claim.js';

/** Personal data of a user, in plain text. */
export interface Person {
  /** Empty while none is known. */
  email: string;
  name: string;
}

/**
 * People across their streams: the user, and the claim of an e-mail address. E-mail addresses are looked up by their MAC, so that neither
 * stream names nor events contain one (ADR 0058).
 */
@Injectable()
export class People {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  now(): string {
    return this.clock.now().toISOString();
  }

  /**
   * Metadata of events about a person, which belong to the platform. They prepare the effect of the call and carry no record: an invited person is
   * stored before the tenant's stream has the invitation (ADR 0072).
   */
  events(context: Pick<OperationContext, 'caller' | 'requestId' | 'operation' | 'traceparent'>): EventContext {
    return {
      tenantId: PLATFORM,
      requestId: context.requestId,
      actor: actorOf(context.caller),
      operation: context.operation,
      correlationId: context.requestId,
      causationId: context.requestId,
      ...(context.traceparent !== undefined && { traceparent: context.traceparent }),
    };
  }

  async user(userId: string): Promise<ManagementUserState> {
    return (await this.streams.load(managementUser, managementUserStream(userId))).state;
  }

  /** Seals a value under the person's own key, which is created if missing. */
  async seal(userId: string, text: string): Promise<Sealed> {
    await this.sealing.createDataKey(PLATFORM, 'user', userId);
    return this.sealing.sealText(PLATFORM, 'user', userId, text);
  }

  emailStream(email: string): string {
    return userEmail.stream(this.macs.mac(email.toLowerCase(), 'user-email').mac);
  }

  /** The user who has the address; `userId` when it was free. */
  async claimEmail(email: string, userId: string, events: EventContext): Promise<string> {
    const { state } = await this.streams.runDecision(
      userEmail,
      this.emailStream(email),
      (current) => userEmail.claim(current, { owner: userId }, { now: this.now() }),
      events,
    );
    return userEmail.ownerOf(state);
  }

  /** Whether a user with this address has registered; changes nothing. */
  async isRegistered(email: string): Promise<boolean> {
    const { state } = await this.streams.load(userEmail, this.emailStream(email));
    return state.status === 'claimed' && (await this.user(state.owner)).status === 'registered';
  }

  /** The user with this address, created if missing. */
  async byEmail(email: string, events: EventContext): Promise<{ userId: string; registered: boolean }> {
    const userId = await this.claimEmail(email, this.ids.uuid(), events);
    const known = await this.user(userId);
    if (known.status !== 'absent') return { userId, registered: known.status === 'registered' };
    const sealedEmail = await this.seal(userId, email);
    const { state } = await this.streams.runDecision(
      managementUser,
      managementUserStream(userId),
      (current) => inviteUser(current, { userId, sealedEmail }, { now: this.now() }),
      events,
    );
    return { userId, registered: state.status === 'registered' };
  }

  /** A person without a name is shown by the address. Values whose key is destroyed are empty. */
  async openPerson(sealed: { sealedEmail?: string | null; sealedName?: string | null }): Promise<Person> {
    const [email, name] = await Promise.all([this.openValue(sealed.sealedEmail), this.openValue(sealed.sealedName)]);
    return { email, name: name || email };
  }

  private async openValue(sealed: string | null | undefined): Promise<string> {
    if (sealed === null || sealed === undefined) return '';
    try {
      const text = await this.sealing.openSealed(PLATFORM, 'user', sealed);
      return isErased(text) ? '' : text;
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      // No list may fail because of one person.
      this.logger.warn({ keyId: error.keyId }, 'key of personal data missing');
      return '';
    }
  }
}
