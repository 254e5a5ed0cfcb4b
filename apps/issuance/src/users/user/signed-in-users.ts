import { Inject, Injectable } from '@nestjs/common';
import { MAX_CLAIMS_BYTES, oauthError, type CompletedSignIn, type UserLink } from '@attestry/contracts';
import { Streams, type Clock, type EventContext, type Ids } from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, Sealing, type Sealed } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';
import { signIn, type ActiveUser } from './user.decisions.js';
import { user, userStream } from './user.state.js';
import { userLink } from './user-link.claim.js';

export interface SignedIn extends CompletedSignIn {
  providerId: string;
}

/** Links from before identity spaces, and all of a provider's first space, have no third entry (ADR 0050). */
const linkKey = ({ providerId, subjectId, identitySpaceId }: SignedIn): string =>
  JSON.stringify([providerId, subjectId, ...(identitySpaceId === undefined ? [] : [identitySpaceId])]);

/** More conflicts than concurrent deletion and sign-in of a person can cause. */
const MAX_ROUNDS = 5;

/** People from the tenant's authentication provider: found, or created, by provider, identity space and subject. */
@Injectable()
export class SignedInUsers {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** The user's id. The claims to keep are stored on the user when it resolves. */
  async findOrCreateUser(tenantId: string, person: SignedIn, events: EventContext): Promise<string> {
    const { mac } = this.macs.mac(linkKey(person), `user-link:${tenantId}`);
    const stream = userLink.stream(tenantId, mac);
    let deletedOwner: string | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = this.clock.now();
      const claimant = { owner: this.ids.uuid() };
      const { state } = await this.streams.runDecision(
        userLink,
        stream,
        (current) => userLink.claim(current, claimant, { now: now.toISOString(), replaces: deletedOwner }),
        events,
      );
      const owner = userLink.ownerOf(state);
      if (await this.recordSignIn(tenantId, owner, person, now, events)) return owner;
      deletedOwner = owner;
    }
    throw new Error('every user that the claim named was deleted');
  }

  /** False when that user was deleted. */
  private async recordSignIn(
    tenantId: string,
    userId: string,
    person: SignedIn,
    signedInAt: Date,
    events: EventContext,
  ): Promise<boolean> {
    const link: UserLink = { providerId: person.providerId, url: person.url, subjectId: person.subjectId };
    return this.store(tenantId, userId, { link, persisted: claimsToKeep(person) }, signedInAt, events);
  }

  /** Stores claims of a person who signed in before. False when that user was deleted. */
  async keepClaims(
    tenantId: string,
    userId: string,
    returned: Pick<CompletedSignIn, 'claims' | 'claimsToPersist'>,
    events: EventContext,
  ): Promise<boolean> {
    return this.store(tenantId, userId, { link: {}, persisted: claimsToKeep(returned) }, this.clock.now(), events);
  }

  /** False when that user was deleted. */
  private async store(
    tenantId: string,
    userId: string,
    { link, persisted }: { link: Partial<UserLink>; persisted: Record<string, unknown> },
    signedInAt: Date,
    events: EventContext,
  ): Promise<boolean> {
    try {
      const { state } = await this.streams.runDecision(
        user,
        userStream(tenantId, userId),
        async (current) => {
          if (current.status === 'deleted') return [];
          await this.sealing.createDataKey(tenantId, 'user', userId);
          const known = current.status === 'active' ? current : undefined;
          const sealedLink = await this.resealed(tenantId, userId, known, 'sealedLink', link);
          const sealedClaims = await this.resealed(tenantId, userId, known, 'sealedClaims', persisted);
          const changed = { ...(sealedLink && { sealedLink }), ...(sealedClaims && { sealedClaims }) };
          return signIn(current, { userId, signedInAt, ...changed });
        },
        events,
      );
      return state.status === 'active';
    } catch (error) {
      // Being deleted: its key is destroyed first.
      if (error instanceof KeyNotFound) return false;
      throw error;
    }
  }

  /** The stored claims merged with the new ones, sealed; `undefined` when nothing changes. */
  private async resealed(
    tenantId: string,
    userId: string,
    known: ActiveUser | undefined,
    name: 'sealedLink' | 'sealedClaims',
    values: object,
  ): Promise<Sealed | undefined> {
    if (Object.keys(values).length === 0) return undefined;
    const before =
      known?.[name] === undefined ? undefined : await this.sealing.openSealed(tenantId, 'user', known[name]);
    if (isErased(before)) throw new KeyNotFound(userId);
    const text = JSON.stringify({ ...(before === undefined ? {} : (JSON.parse(before) as object)), ...values });
    if (text === before) return undefined;
    if (Buffer.byteLength(text) > MAX_CLAIMS_BYTES)
      throw oauthError('server_error', 'the claims to store for the user are larger than 384 KiB', {
        check: 'signed-in-users',
      });
    return this.sealing.sealText(tenantId, 'user', userId, text);
  }
}

const claimsToKeep = ({
  claims,
  claimsToPersist,
}: Pick<CompletedSignIn, 'claims' | 'claimsToPersist'>): Record<string, unknown> =>
  Object.fromEntries(
    claimsToPersist.flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]] as const] : [])),
  );
