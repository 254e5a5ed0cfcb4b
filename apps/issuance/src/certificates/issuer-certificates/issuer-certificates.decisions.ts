import type { IssuerCertificatesEvent, StoredCertificate, StoredSigner } from './issuer-certificates.events.js';
import type { IssuerCertificatesState } from './issuer-certificates.state.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface CertificatePeriod {
  notBefore: Date;
  notAfter: Date;
  dueAt: Date;
}

/** Days for which a credential can always be valid: nine years have at most 3,288. */
export const GUARANTEED_DAYS = 3290;

/** A CA is used for half of its 20 years, so that every signer made under it has its full 3,660 days. */
export const caPeriod = (now: Date): CertificatePeriod => periodOf(now, 7320, 3650);

/** A signer lives 3,660 days and signs for a year, and for five days more in case its renewal is late (`GUARANTEED_DAYS`). */
export const signerPeriod = (now: Date): CertificatePeriod => periodOf(now, 3660, 365);

/**
 * When the private key of a replaced signer is destroyed: a day after its successor begins, which is at most an hour before that is made. Another
 * process may sign with the replaced one for a minute (`MAX_AGE_MS`) and the time of a request.
 */
export const replacedKeyDueAt = (successor: Pick<StoredSigner, 'notBefore'>): Date =>
  new Date(Date.parse(successor.notBefore) + DAY_MS);

/** It begins with the hour: a verifier's clock may be behind, and times of credentials are rounded down to the hour. */
const periodOf = (now: Date, days: number, daysInUse: number): CertificatePeriod => {
  const begin = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  return {
    notBefore: new Date(begin),
    notAfter: new Date(begin + days * DAY_MS),
    dueAt: new Date(begin + daysInUse * DAY_MS),
  };
};

/** The CA that signs now; undefined before the first, and when another one is due. */
export const signingCa = ({ authorities }: IssuerCertificatesState, now: Date): StoredCertificate | undefined =>
  authorities.findLast(({ dueAt }) => now < new Date(dueAt));

/** The newest signer of an issuer whose certificate is valid, also when another one is due. */
export const validSigner = (
  { signers }: IssuerCertificatesState,
  issuer: string,
  now: Date,
): StoredSigner | undefined => {
  for (let at = signers.length - 1; at >= 0; at--) {
    const signer = signers[at]!;
    if (signer.issuer === issuer && now < new Date(signer.notAfter)) return signer;
  }
  return undefined;
};

export const isSignerDue = (state: IssuerCertificatesState, issuer: string, now: Date): boolean => {
  const signer = validSigner(state, issuer, now);
  return !signer || now >= new Date(signer.dueAt);
};

/** Whether a credential may outlive the signer, because it was not renewed in time. */
export const endsTooSoon = ({ notAfter }: { notAfter: string | Date }, now: Date): boolean =>
  new Date(notAfter).getTime() - now.getTime() < GUARANTEED_DAYS * DAY_MS;

/** A signer that is due, with the CA that it was made with when that one was due too. */
export const addSigner = (
  state: IssuerCertificatesState,
  { ca, signer, now }: { ca?: StoredCertificate | undefined; signer: StoredSigner; now: Date },
): IssuerCertificatesEvent[] => {
  if (!isSignerDue(state, signer.issuer, now)) return [];
  return [
    ...(ca ? [{ type: 'IssuerCaCreated' as const, data: ca }] : []),
    { type: 'IssuerSignerCreated', data: signer },
  ];
};

/** Private keys of signers that newer ones have replaced long enough ago. The keys of CAs remain: a CA signs as long as it lasts. */
export const destroyReplacedKeys = (
  { signers }: IssuerCertificatesState,
  now: Date,
): Extract<IssuerCertificatesEvent, { type: 'IssuerSignerKeyDestroyed' }>[] =>
  signers.flatMap(({ issuer, keyId, isKeyDestroyed }, at) => {
    const successor = signers.find((it, index) => index > at && it.issuer === issuer);
    if (isKeyDestroyed || !successor || now < replacedKeyDueAt(successor)) return [];
    return [{ type: 'IssuerSignerKeyDestroyed', data: { issuer, keyId } }];
  });
