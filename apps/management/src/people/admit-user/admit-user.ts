import { Inject } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { admitUser, AppError, type AdmittedUser, type ServiceContext } from '@attestry/contracts';
import { Streams, type EventContext, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { registerUser, takeEmail } from '../../users/management-user/management-user.decisions.js';
import {
  managementUser,
  managementUserStream,
  type RegisteredUser,
} from '../../users/management-user/management-user.state.js';
import { userEmail } from '../../users/management-user/user-email.claim.js';
import { userIdentity } from '../../users/management-user/user-identity.claim.js';
import { People } from '../../users/people/people.js';

const MAX_EMAIL = 254;
const MAX_NAME = 255;

/**
 * A person is identified by issuer and subject (OpenID Connect Core 1.0 §5.7: nothing else is stable). The first call registers them: as
 * the invited user with the e-mail address that the provider has verified, or as a new one. An address of another registered user is never
 * taken over: two providers may mean two people.
 */
@Operation(admitUser)
export class AdmitUser {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly people: People,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof admitUser>, context: ServiceContext): Promise<AdmittedUser> {
    const { issuer, subject, emailVerified } = request.body;
    const email = emailVerified === true ? plainEmail(request.body.email) : undefined;
    const name = plainName(request.body.name);
    const identity = this.macs.mac(JSON.stringify([issuer, subject]), 'user-identity').mac;
    const events = this.people.events(context);
    const { state } = await this.streams.load(userIdentity, userIdentity.stream(identity));
    if (state.status === 'claimed') {
      const user = await this.people.user(state.owner);
      if (user.status === 'registered' && user.identity === identity) {
        if (email !== undefined) await this.takeOver(user, email, events);
        return { userId: user.id };
      }
    }
    return { userId: await this.register(identity, email, name, events) };
  }

  private async register(identity: string, email: string | undefined, name: string | undefined, events: EventContext) {
    const stream = userIdentity.stream(identity);
    const wanted = email === undefined ? this.ids.uuid() : await this.userOf(email, events);
    const { state } = await this.streams.runDecision(
      userIdentity,
      stream,
      (current) => userIdentity.claim(current, { owner: wanted }, { now: this.people.now() }),
      events,
    );
    const userId = userIdentity.ownerOf(state);
    try {
      await this.appendUser(userId, identity, userId === wanted ? email : undefined, name, events);
      return userId;
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'conflict')) throw error;
    }
    // The invited user was registered concurrently by another identity: this one is another person.
    const other = await this.streams.runDecision(
      userIdentity,
      stream,
      (current) =>
        userIdentity.claim(current, { owner: this.ids.uuid() }, { now: this.people.now(), replaces: userId }),
      events,
    );
    const otherId = userIdentity.ownerOf(other.state);
    await this.appendUser(otherId, identity, undefined, name, events);
    return otherId;
  }

  /** The user that a verified address maps an unregistered person to. */
  private async userOf(email: string, events: EventContext): Promise<string> {
    const owner = await this.people.claimEmail(email, this.ids.uuid(), events);
    return (await this.people.user(owner)).status === 'registered' ? this.ids.uuid() : owner;
  }

  private async appendUser(
    userId: string,
    identity: string,
    email: string | undefined,
    name: string | undefined,
    events: EventContext,
  ): Promise<void> {
    // Only the holder of the claim has the address.
    const owns = email !== undefined && (await this.people.claimEmail(email, userId, events)) === userId;
    const sealedEmail = owns ? await this.people.seal(userId, email) : undefined;
    const sealedName = name === undefined ? undefined : await this.people.seal(userId, name);
    const command = {
      userId,
      identity,
      ...(sealedEmail !== undefined && { sealedEmail }),
      ...(sealedName !== undefined && { sealedName }),
    };
    await this.streams.runDecision(
      managementUser,
      managementUserStream(userId),
      (current) => registerUser(current, command, { now: this.people.now() }),
      events,
    );
  }

  /** The new address is claimed before the old one is released, so that no other user gets either of them in between. */
  private async takeOver(user: RegisteredUser, email: string, events: EventContext): Promise<void> {
    const { email: known } = await this.people.openPerson({ sealedEmail: user.sealedEmail ?? null });
    if (known === email || (await this.people.claimEmail(email, user.id, events)) !== user.id) return;
    const sealedEmail = await this.people.seal(user.id, email);
    await this.streams.runDecision(
      managementUser,
      managementUserStream(user.id),
      (current) => takeEmail(current, { sealedEmail }),
      events,
    );
    if (known === '') return;
    await this.streams.runDecision(
      userEmail,
      this.people.emailStream(known),
      (current) => userEmail.release(current, { owner: user.id }),
      events,
    );
  }
}

/** A provider's claims may be malformed; such claims are ignored. */
const plainEmail = (email: string | undefined): string | undefined => {
  const text = email?.trim().toLowerCase();
  return text !== undefined && text.length <= MAX_EMAIL && isEmail(text) ? text : undefined;
};

const plainName = (name: string | undefined): string | undefined => {
  const text = name?.trim();
  return text !== undefined &&
    text.length >= 1 &&
    text.length <= MAX_NAME &&
    !/\p{Cc}/u.test(text) &&
    text.isWellFormed()
    ? text
    : undefined;
};
