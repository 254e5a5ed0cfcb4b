import { conflict, notFound, oauthError } from '@attestry/contracts';
import { isExpired, isOpenDeferral } from './issuance-session.decisions.js';
import type { IssuanceDeferredData, IssuanceSessionEvent } from './issuance-session.events.js';
import type { DeferredIssuance, IssuanceSessionState, RedeemedSession } from './issuance-session.state.js';

/** Open ones of one session: each stores the keys of a batch. */
const MAX_OPEN = 20;

/** Credentials of a configuration that the session may still collect, without those of one deferral. */
export const countDeferred = (
  { deferrals = {} }: Pick<RedeemedSession, 'deferrals'>,
  configurationId: string,
  now: Date,
  except?: string,
): number =>
  Object.values(deferrals).reduce(
    (sum, deferral) =>
      isOpenDeferral(deferral, now) &&
      deferral.credentialConfigurationId === configurationId &&
      deferral.deferralId !== except
        ? sum + deferral.holders.length
        : sum,
    0,
  );

/** After the checks of the credential endpoint. @throws AppError credential_request_denied */
export const deferIssuance = (
  { deferrals = {} }: Pick<RedeemedSession, 'deferrals'>,
  data: Omit<IssuanceDeferredData, 'openUntil'>,
  now: Date,
): IssuanceSessionEvent[] => {
  if (Object.values(deferrals).filter((deferral) => isOpenDeferral(deferral, now)).length >= MAX_OPEN)
    throw oauthError('credential_request_denied', `at most ${MAX_OPEN} deferred requests may be open`, {
      check: 'deferred-issuance',
    });
  const until = openUntil({ deferrals }, now);
  const { expiresAt } = data.transaction;
  return [{ type: 'IssuanceDeferred', data: { ...data, openUntil: until && until > expiresAt ? until : expiresAt } }];
};

/** Nothing changes if it was approved or collected before. @throws AppError 404, and 409 for one that was denied */
export const approveDeferral = (state: IssuanceSessionState, id: string, now: Date): IssuanceSessionEvent[] => {
  const { status } = findDeferral(state, id, now);
  if (status === 'denied') throw conflict('The issuance was denied');
  return status === 'pending'
    ? [{ type: 'DeferredIssuanceApproved', data: { deferralId: id, approvedAt: now.toISOString() } }]
    : [];
};

/** Denies even after an approval, until the credentials are issued. @throws AppError 404, and 409 once they are */
export const denyDeferral = (state: IssuanceSessionState, id: string, now: Date): IssuanceSessionEvent[] => {
  const { status } = findDeferral(state, id, now);
  if (status === 'completed') throw conflict('The credentials were issued');
  if (status === 'denied') return [];
  const data = { deferralId: id, deniedAt: now.toISOString(), ...othersUntil(state, id, now) };
  return [{ type: 'DeferredIssuanceDenied', data }];
};

/** With the credentials. @throws AppError invalid_transaction_id for one that was collected or denied in the meantime */
export const completeDeferral = (
  state: IssuanceSessionState,
  { deferralId, answerId }: { deferralId: string; answerId: string },
  now: Date,
): IssuanceSessionEvent[] => {
  if (deferralOf(state, deferralId)?.status !== 'approved') throw invalidTransactionId();
  const data = { deferralId, answerId, completedAt: now.toISOString(), ...othersUntil(state, deferralId, now) };
  return [{ type: 'DeferredIssuanceCompleted', data }];
};

export const invalidTransactionId = () =>
  oauthError('invalid_transaction_id', 'transaction_id is unknown, has expired or was used', {
    check: 'deferred-issuance',
  });

/** Latest end of the open ones. */
const openUntil = (
  { deferrals = {} }: Pick<RedeemedSession, 'deferrals'>,
  now: Date,
  except?: string,
): string | undefined =>
  Object.values(deferrals)
    .filter((deferral) => isOpenDeferral(deferral, now) && deferral.deferralId !== except)
    .map(({ transaction }) => transaction.expiresAt)
    .sort()
    .at(-1);

const othersUntil = (state: IssuanceSessionState, id: string, now: Date): { openUntil?: string } => {
  const until = state.status === 'redeemed' ? openUntil(state, now, id) : undefined;
  return until === undefined ? {} : { openUntil: until };
};

/** @param id any text */
export const deferralOf = (state: IssuanceSessionState, id: string): DeferredIssuance | undefined =>
  state.status === 'redeemed' && state.deferrals && Object.hasOwn(state.deferrals, id)
    ? state.deferrals[id]
    : undefined;

const findDeferral = (state: IssuanceSessionState, id: string, now: Date): DeferredIssuance => {
  const deferral = deferralOf(state, id);
  if (!deferral || isExpired(deferral.transaction, now)) throw notFound();
  return deferral;
};

/** Whether the response was that of a deferral that would not have ended yet. */
export const isOfDeferral = ({ deferrals = {} }: RedeemedSession, answerId: string, now: Date): boolean =>
  Object.values(deferrals).some(
    (deferral) =>
      deferral.status === 'completed' && deferral.answerId === answerId && !isExpired(deferral.transaction, now),
  );
