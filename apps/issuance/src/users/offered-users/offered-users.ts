import { Injectable } from '@nestjs/common';
import {
  invalidBody,
  MAX_CLAIMS_BYTES,
  type ClientContext,
  type ContextOf,
  type createPreAuthorizedOffer,
} from '@attestry/contracts';
import { Streams, type FurtherDecision, type UnitWrite } from '@attestry/event-store';
import { isErased, KeyNotFound, Sealing } from '@attestry/keys';
import { eventContext, sealForNew } from '@attestry/service-kit';
import type { UserObject } from '../../formats/map-claims.js';
import { KnownUsers } from '../known-users/known-users.js';
import { UserClaims } from '../user/user-claims.js';
import { createUser, keepUser, replaceUserClaims, type ActiveUser } from '../user/user.decisions.js';
import { user, userStream, type UserState } from '../user/user.state.js';

type Context = ContextOf<typeof createPreAuthorizedOffer>;

/** The users of offers. */
@Injectable()
export class OfferedUsers {
  constructor(
    private readonly streams: Streams,
    private readonly users: KnownUsers,
    private readonly claims: UserClaims,
    private readonly sealing: Sealing,
  ) {}

  /** @throws AppError 400 */
  async load(tenantId: string, userId: string): Promise<ActiveUser> {
    const { state } = await this.users.load(tenantId, userId);
    assertActive(state, userId);
    return state;
  }

  /** Stored claims of the user. @throws AppError 400 */
  async claimsOf(tenantId: string, person: ActiveUser): Promise<UserObject> {
    const shown = await this.claims.viewOf(tenantId, person);
    if (isErased(shown)) throw noSuchUser(person.id);
    const { claims, authenticationProvider } = shown;
    return { claims, ...(authenticationProvider && { authenticationProvider }) };
  }

  /** Seals a text that ends with the user. @throws AppError 400 */
  async sealFor(tenantId: string, userId: string, text: string): Promise<string> {
    try {
      await this.sealing.createDataKey(tenantId, 'user', userId);
      return await this.sealing.sealText(tenantId, 'user', userId, text);
    } catch (error) {
      // Being deleted: its key is destroyed first.
      if (error instanceof KeyNotFound) throw noSuchUser(userId);
      throw error;
    }
  }

  /** A user with these claims, for the unit of work that creates the offer. */
  async creation(
    tenantId: string,
    userId: string,
    stored: Record<string, unknown>,
    createdAt: Date,
    context: Context,
  ): Promise<{ writes: UnitWrite[]; decision: FurtherDecision }> {
    const sealed = await sealForNew(this.sealing, context, {
      tenantId,
      purpose: 'user',
      id: userId,
      text: JSON.stringify(stored),
    });
    const stream = userStream(tenantId, userId);
    const decision = this.streams.further(
      user,
      stream,
      context.idempotentCall ? () => this.streams.load(user, stream) : this.streams.initial(user),
      // An earlier attempt of this call may have created the user, on a store without a transaction over streams.
      (state) =>
        state.status === 'absent' ? createUser(state, { userId, createdAt, sealedClaims: sealed.sealed }) : [],
      eventContext(context),
    );
    return { writes: sealed.newKey ? [sealed.newKey] : [], decision };
  }

  /** A user who stays when the offer is deleted, with these claims beside the stored ones. */
  keeping(tenantId: string, userId: string, stored: Record<string, unknown>, context: ClientContext): FurtherDecision {
    return this.streams.further(
      user,
      userStream(tenantId, userId),
      () => this.users.load(tenantId, userId),
      async (state) => {
        assertActive(state, userId);
        if (isEmpty(stored)) return keepUser(state);
        const before = state.sealedClaims && (await this.sealing.openSealed(tenantId, 'user', state.sealedClaims));
        if (isErased(before)) throw noSuchUser(userId);
        const text = JSON.stringify({ ...(before ? (JSON.parse(before) as object) : {}), ...stored });
        if (Buffer.byteLength(text) > MAX_CLAIMS_BYTES)
          throw invalidBody('claimsToPersist', 'must not give the user more than 384 KiB of stored claims');
        return replaceUserClaims(state, { sealedClaims: await this.sealFor(tenantId, userId, text) });
      },
      eventContext(context),
    );
  }
}

const isEmpty = (claims: object): boolean => Object.keys(claims).length === 0;

const noSuchUser = (userId: string) => invalidBody('userId', 'must be a user of this tenant', userId);

function assertActive(state: UserState, userId: string): asserts state is ActiveUser {
  if (state.status !== 'active') throw noSuchUser(userId);
}
