import { oauthError } from '@attestry/contracts';
import { DAY_MS, beginOfHour, hasEnded, isValid } from './certificate-period.decisions.js';
import type { Documents, IssuedSigner, RequestedSigner, StoredX509 } from './mobile-certificates.events.js';
import {
  lostSince,
  type IacaState,
  type MobileCertificatesState,
  type RequestedSignerState,
} from './mobile-certificates.state.js';

/** ISO/IEC 18013-5 Annex B.1.4. */
const LONGEST_MDL_SIGNER_DAYS = 457;

export interface SignerTarget {
  iacaId: string;
  documents: Documents;
}

/**
 * Signer of a document, under the newest IACA that is active and valid, and that has a signer or can have one made; for a document with a
 * status also one of status lists.
 * @throws AppError credential_request_denied
 */
export const findSigner = (
  state: MobileCertificatesState,
  documents: Documents,
  now: Date,
  { hasStatus }: { hasStatus: boolean } = { hasStatus: false },
): { iaca: IacaState; signer: IssuedSigner | (RequestedSigner & StoredX509) | undefined } => {
  const active = state.iacas.filter((iaca) => iaca.active && isValid(iaca, now)).reverse();
  let lacksListSigner = false;
  for (const iaca of active) {
    if (lostSince(state, iaca) !== undefined) continue;
    const signer =
      iaca.keyId === undefined
        ? uploadedSigner(state, iaca, documents, now)
        : issuedSigner(state, { iacaId: iaca.iacaId, documents }, now);
    if (!signer && iaca.keyId === undefined) continue;
    lacksListSigner = hasStatus && iaca.keyId === undefined && !uploadedSigner(state, iaca, 'statusList', now);
    if (!lacksListSigner) return { iaca, signer };
  }
  throw oauthError(
    'credential_request_denied',
    active.some((iaca) => iaca.held ?? lostSince(state, iaca))
      ? 'the domain of the issuer has been withdrawn'
      : active.length
        ? `no ${lacksListSigner ? 'status list' : 'document'} signer of the issuer is active and valid`
        : 'no IACA of the issuer is active and valid',
    { check: 'find-signer' },
  );
};

/**
 * Signer of the status lists of an IACA, also while it is inactive: its documents exist. Undefined where one is to be made or uploaded;
 * `hasEnded` when there can be no other.
 */
export const findListSigner = (
  state: MobileCertificatesState,
  iacaId: string,
  now: Date,
): { hasEnded: boolean; iaca?: IacaState; signer?: (IssuedSigner | UploadedSigner) | undefined } => {
  const iaca = state.iacas.find((one) => one.iacaId === iacaId);
  if (!iaca || hasEnded(iaca, now)) return { hasEnded: true };
  const signer =
    iaca.keyId === undefined
      ? uploadedSigner(state, iaca, 'statusList', now)
      : issuedSigner(state, { iacaId, documents: 'statusList' }, now);
  return { hasEnded: false, iaca, signer };
};

const newestIssued = ({ signers }: MobileCertificatesState, { iacaId, documents }: SignerTarget) =>
  signers.findLast(
    (one) =>
      one.kind === 'managed' &&
      one.iacaId === iacaId &&
      one.documents === documents &&
      one.revokedAt === undefined &&
      // Before `signsUntil` only where the clock was ahead once.
      !one.isKeyDestroyed,
  ) as IssuedSigner | undefined;

const issuedSigner = (state: MobileCertificatesState, target: SignerTarget, now: Date): IssuedSigner | undefined => {
  const newest = newestIssued(state, target);
  return newest && now < new Date(newest.signsUntil) ? newest : undefined;
};

type UploadedSigner = RequestedSignerState & StoredX509;

/** The one that was changed last. Verifiers reject an mDL whose signer lives longer than 457 days. */
const uploadedSigner = (
  { signers }: MobileCertificatesState,
  { iacaId, crl, held }: IacaState,
  documents: Documents,
  now: Date,
): UploadedSigner | undefined =>
  signers
    .filter((one): one is UploadedSigner => one.kind === 'requested' && one.certificate !== undefined)
    .filter(
      (one) =>
        one.iacaId === iacaId &&
        (one.documents === 'statusList') === (documents === 'statusList') &&
        one.active &&
        one.revokedAt === undefined &&
        !one.isKeyDestroyed &&
        isValid(one, now) &&
        !crl?.revoked.includes(one.serialNumber) &&
        !held?.some(({ serialNumber }) => serialNumber === one.serialNumber) &&
        (documents !== 'mDL' || daysOf(one) <= LONGEST_MDL_SIGNER_DAYS),
    )
    .sort((a, b) => (a.changedAt! < b.changedAt! ? -1 : 1))
    .at(-1);

const daysOf = ({ data }: StoredX509): number => (Date.parse(data.notAfter) - Date.parse(data.notBefore)) / DAY_MS;

/** Whether another signer is made: of an IACA that is managed, valid and, except for status lists, active. */
export const isSignerDue = (state: MobileCertificatesState, target: SignerTarget, now: Date): boolean => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === target.iacaId);
  if (iaca?.keyId === undefined || !isValid(iaca, now)) return false;
  if (!iaca.active && target.documents !== 'statusList') return false;
  const newest = newestIssued(state, target);
  return !newest || now >= new Date(newest.dueAt ?? newest.signsUntil);
};

/** From when the certificate of a signer that is made now is valid. */
export const beginOfSigner = ({ data }: StoredX509, now: Date): Date =>
  new Date(Math.max(beginOfHour(now).getTime(), Date.parse(data.notBefore)));

/** A day before the last signature: also where every process was stopped for hours, no request waits for a certificate. */
export const signerDueAt = ({ signsUntil }: { signsUntil: Date }, { data }: StoredX509): Date | undefined =>
  signsUntil < new Date(data.notAfter) ? new Date(signsUntil.getTime() - DAY_MS) : undefined;
