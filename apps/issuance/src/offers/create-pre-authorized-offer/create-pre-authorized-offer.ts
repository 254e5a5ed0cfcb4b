import { Inject } from '@nestjs/common';
import {
  createPreAuthorizedOffer,
  invalidBody,
  MAX_CLAIMS_BYTES,
  type ContextOf,
  type PreAuthorizedOffer,
  type PreAuthorizedOfferRequest,
} from '@attestry/contracts';
import { Streams, type Clock, type FurtherDecision, type Ids, type UnitWrite } from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, randomSecret, Sealing } from '@attestry/keys';
import {
  bytesFor,
  CLOCK,
  eventContext,
  idFor,
  IDS,
  Operation,
  sealForNew,
  storeForNew,
  type RequestOf,
} from '@attestry/service-kit';
import { ClaimUse } from '../../claims/claim-sets/claim-use.js';
import { nameClaimSets, sessionClaimsText } from '../../claims/claim-sets/claim-sets.js';
import { preAuthorizedOfferError } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { createOffer } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { TransactionCode } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { firstSessionId } from '../../users/known-users/first-session-id.js';
import { KnownUsers } from '../../users/known-users/known-users.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { UserObject } from '../../formats/map-claims.js';
import {
  offerDocument,
  offerQrUrl,
  offerReference,
  offerReferenceUri,
  offerUri,
  sealOfferDocument,
} from '../../sessions/offer-document/offer-document.js';
import { OfferEntries } from '../offer-entries/offer-entries.js';
import {
  makeTransactionCode,
  normalTransactionCode,
  TRANSACTION_CODE_LENGTH,
} from '../../sessions/transaction-code/transaction-code.js';
import { UserClaims } from '../../users/user/user-claims.js';
import { createUser, keepUser, replaceUserClaims, type ActiveUser } from '../../users/user/user.decisions.js';
import { user, userStream, type UserState } from '../../users/user/user.state.js';
import { checkOfferRequest } from './check-offer-request.js';

const isEmpty = (claims: object): boolean => Object.keys(claims).length === 0;

@Operation(createPreAuthorizedOffer)
export class CreatePreAuthorizedOffer {
  constructor(
    private readonly streams: Streams,
    private readonly users: KnownUsers,
    private readonly claims: UserClaims,
    private readonly entries: OfferEntries,
    private readonly claimUse: ClaimUse,
    private readonly haip: HaipProfile,
    private readonly names: IssuerNames,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof createPreAuthorizedOffer>,
    context: ContextOf<typeof createPreAuthorizedOffer>,
  ): Promise<PreAuthorizedOffer> {
    const { id: tenantId, baseUrl } = context.tenant;
    const issuer = await this.names.current(context.tenant);
    await this.haip.enforce(tenantId, () => {
      throw preAuthorizedOfferError();
    });
    const { entries: checked, seconds, claims, stored } = checkOfferRequest(request.body);
    const configurationIds = checked.map(({ configurationId }) => configurationId);
    const claimSets = nameClaimSets(checked, () => this.ids.uuid());
    const userId = request.body.userId ?? idFor(context, 'user', this.ids);
    const known = request.body.userId !== undefined;
    const person = known ? await this.loadUser(tenantId, userId) : undefined;
    const entries = await this.entries.resolveEntries(tenantId, checked, {
      ...(await this.knownClaims(tenantId, person, claims)),
      areComplete: true,
    });
    const warnings = await this.claimUse.check(tenantId, checked, { claims, persisted: Object.keys(stored) });
    const newUser = !known && isEmpty(stored);
    // A repeated call has the id of the first one, whose user may have been changed since.
    if (newUser && !context.idempotentCall) this.streams.noteUnused(userStream(tenantId, userId));

    const now = this.clock.now();
    const sessionId = newUser ? firstSessionId(userId) : idFor(context, 'session', this.ids);
    const code = makeBearerValue(sessionId, idFor(context, 'code', this.ids), bytesFor(context, 'code'));
    const codeMac = this.macs.mac(code.value, grantContext('preAuthorizedCode', tenantId, sessionId));
    const expiresAt = new Date(now.getTime() + seconds * 1000).toISOString();
    const transaction = this.transactionCode(request.body, sessionId, context);
    const document = offerDocument(issuer, configurationIds, code.value, transaction?.stored);
    const secret = randomSecret(32, bytesFor(context, 'reference'));
    const reference = offerReference(sessionId, secret);
    const kept =
      isEmpty(claims) && !claimSets
        ? undefined
        : await storeForNew(this.sealing, context, {
            tenantId,
            purpose: 'session',
            id: sessionId,
            text: sessionClaimsText(claims, claimSets),
          });

    const writes: UnitWrite[] = kept?.newKey ? [kept.newKey] : [];
    const further: FurtherDecision[] = [];
    if (person && (person.fromOffer || !isEmpty(stored)))
      further.push(this.keepOnUser(tenantId, userId, stored, context));
    if (!known && !newUser) {
      const created = await this.createPerson(tenantId, userId, stored, now, context);
      writes.push(...created.writes);
      further.push(created.decision);
    }
    const { state } = await this.streams.decideOn(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      this.streams.initial(issuanceSession),
      (state) =>
        createOffer(
          state,
          {
            sessionId,
            origin: {
              kind: 'preAuthorizedOffer',
              ...(transaction && { transactionCode: transaction.stored }),
              sealedDocument: sealOfferDocument(document, secret, sessionId),
            },
            issuer,
            userId,
            ...(newUser && { newUser }),
            entries,
            code: {
              tokenId: code.tokenId,
              kind: 'preAuthorizedCode',
              mac: codeMac.mac,
              keyId: codeMac.pepper,
              expiresAt,
            },
            ...(kept && { storedClaims: kept.stored }),
            ...(claimSets && { identifiers: claimSets.identifiers }),
          },
          now,
        ),
      eventContext(context),
      { once: true, unit: { writes, further } },
    );

    return {
      id: sessionId,
      userId,
      uri: offerUri(document),
      uriByReference: offerReferenceUri(baseUrl, reference),
      qrUrl: offerQrUrl(baseUrl, reference),
      // An earlier attempt of this call may have created it.
      expiresAt: state.status === 'offered' ? state.code.expiresAt : expiresAt,
      ...(transaction && { transactionCode: transaction.shown }),
      ...(warnings && { warnings }),
    };
  }

  private async loadUser(tenantId: string, userId: string): Promise<ActiveUser> {
    const { state } = await this.users.load(tenantId, userId);
    assertActive(state, userId);
    return state;
  }

  /** The credential endpoint merges the claims in the same way, without claim sets. */
  private async knownClaims(
    tenantId: string,
    person: ActiveUser | undefined,
    offered: Record<string, unknown>,
  ): Promise<UserObject> {
    if (!person) return { claims: offered };
    const shown = await this.claims.viewOf(tenantId, person);
    if (isErased(shown)) throw noSuchUser(person.id);
    const { claims, authenticationProvider } = shown;
    return { claims: { ...claims, ...offered }, ...(authenticationProvider && { authenticationProvider }) };
  }

  private transactionCode(
    request: PreAuthorizedOfferRequest,
    sessionId: string,
    context: ContextOf<typeof createPreAuthorizedOffer>,
  ): { shown: string; stored: TransactionCode } | undefined {
    const wanted = request.transactionCodeConfiguration;
    if (!wanted) return undefined;
    const inputMode = wanted.inputMode ?? 'numeric';
    const shown = makeTransactionCode(inputMode, bytesFor(context, 'transaction code'));
    // Six digits can be brute-forced with the MAC and the pepper: bound to the offer, each costs its own search.
    const { mac, pepper } = this.macs.mac(normalTransactionCode(shown, inputMode), sessionId);
    const description = wanted.description ?? undefined;
    return {
      shown,
      stored: {
        inputMode,
        length: TRANSACTION_CODE_LENGTH,
        ...(description !== undefined && { description }),
        mac,
        keyId: pepper,
      },
    };
  }

  private async createPerson(
    tenantId: string,
    userId: string,
    stored: Record<string, unknown>,
    createdAt: Date,
    context: ContextOf<typeof createPreAuthorizedOffer>,
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

  private keepOnUser(
    tenantId: string,
    userId: string,
    stored: Record<string, unknown>,
    context: ContextOf<typeof createPreAuthorizedOffer>,
  ): FurtherDecision {
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
        try {
          await this.sealing.createDataKey(tenantId, 'user', userId);
          return replaceUserClaims(state, {
            sealedClaims: await this.sealing.sealText(tenantId, 'user', userId, text),
          });
        } catch (error) {
          // Being deleted: its key is destroyed first.
          if (error instanceof KeyNotFound) throw noSuchUser(userId);
          throw error;
        }
      },
      eventContext(context),
    );
  }
}

const noSuchUser = (userId: string) => invalidBody('userId', 'must be a user of this tenant', userId);

function assertActive(state: UserState, userId: string): asserts state is ActiveUser {
  if (state.status !== 'active') throw noSuchUser(userId);
}
