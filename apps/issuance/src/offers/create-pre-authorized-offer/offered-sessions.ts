import { Inject, Injectable } from '@nestjs/common';
import type {
  ContextOf,
  createPreAuthorizedOffer,
  PreAuthorizedOffer,
  PreAuthorizedOfferRequest,
} from '@attestry/contracts';
import { Streams, type Clock, type FurtherDecision, type Ids, type UnitWrite } from '@attestry/event-store';
import { Macs, randomSecret, Sealing } from '@attestry/keys';
import { bytesFor, CLOCK, eventContext, idFor, IDS, storeForNew } from '@attestry/service-kit';
import { sessionClaimsText, type ClaimSets } from '../../claims/claim-sets/claim-sets.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { createOffer } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { OfferEntry, TransactionCode } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import {
  offerDocument,
  offerQrUrl,
  offerReference,
  offerReferenceUri,
  offerUri,
  sealOfferDocument,
} from '../../sessions/offer-document/offer-document.js';
import {
  makeTransactionCode,
  normalTransactionCode,
  TRANSACTION_CODE_LENGTH,
} from '../../sessions/transaction-code/transaction-code.js';
import { firstSessionId } from '../../users/known-users/first-session-id.js';
import { OfferedUsers } from '../../users/offered-users/offered-users.js';
import type { ActiveUser } from '../../users/user/user.decisions.js';
import { userStream } from '../../users/user/user.state.js';

type Context = ContextOf<typeof createPreAuthorizedOffer>;

/** A checked request for an offer. */
export interface OfferOrder {
  /** Credential issuer identifier. */
  issuer: string;
  configurationIds: string[];
  entries: OfferEntry[];
  userId: string;
  /** The user of that id, where the request names one. */
  person: ActiveUser | undefined;
  /** Claims of the session. */
  claims: Record<string, unknown>;
  claimSets: ClaimSets | undefined;
  /** Claims that are stored of the user. */
  stored: Record<string, unknown>;
  seconds: number;
  transactionCode: PreAuthorizedOfferRequest['transactionCodeConfiguration'];
}

/** Issuance sessions that begin with a pre-authorized offer. */
@Injectable()
export class OfferedSessions {
  constructor(
    private readonly streams: Streams,
    private readonly people: OfferedUsers,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async create(order: OfferOrder, context: Context): Promise<PreAuthorizedOffer> {
    const { issuer, configurationIds, entries, userId, person, claims, claimSets, stored, seconds } = order;
    const { id: tenantId, baseUrl } = context.tenant;
    const newUser = !person && isEmpty(stored);
    // A repeated call has the id of the first one, whose user may have been changed since.
    if (newUser && !context.idempotentCall) this.streams.noteUnused(userStream(tenantId, userId));
    const now = this.clock.now();
    const sessionId = newUser ? firstSessionId(userId) : idFor(context, 'session', this.ids);
    const code = makeBearerValue(sessionId, idFor(context, 'code', this.ids), bytesFor(context, 'code'));
    const codeMac = this.macs.mac(code.value, grantContext('preAuthorizedCode', tenantId, sessionId));
    const expiresAt = new Date(now.getTime() + seconds * 1000).toISOString();
    const transaction = this.transactionCode(order.transactionCode, sessionId, context);
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
      further.push(this.people.keeping(tenantId, userId, stored, context));
    if (!person && !newUser) {
      const created = await this.people.creation(tenantId, userId, stored, now, context);
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
    };
  }

  private transactionCode(
    wanted: OfferOrder['transactionCode'],
    sessionId: string,
    context: Context,
  ): { shown: string; stored: TransactionCode } | undefined {
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
}

const isEmpty = (claims: object): boolean => Object.keys(claims).length === 0;
