import { wholeSecond } from './certificate-period.decisions.js';
import type { MobileCertificatesEvent } from './mobile-certificates.events.js';
import type { IacaState, MobileCertificatesState } from './mobile-certificates.state.js';
import { signsCrls } from './revocation-list.decisions.js';

/** Idempotent, and ignores events older than the last one. */
export const recordDomainChange = (
  state: MobileCertificatesState,
  { domain, revision, isWithdrawn }: { domain: string; revision: number; isWithdrawn: boolean },
  changedAt: Date,
): MobileCertificatesEvent[] => {
  if (revision <= (state.domainRevision ?? -1)) return [];
  // Verified for the first time: no signer was held.
  if (!isWithdrawn && !state.lostDomains?.some((lost) => lost.domain === domain)) return [];
  return isWithdrawn
    ? [{ type: 'SignersOfDomainHeld', data: { domain, revision, heldAt: wholeSecond(changedAt).toISOString() } }]
    : [{ type: 'SignersOfDomainReleased', data: { domain, revision } }];
};

/** Managed IACAs whose CRL changes between two states because signers are held or released. */
export const iacasToPublish = (
  before: MobileCertificatesState,
  after: MobileCertificatesState,
  now: Date,
): IacaState[] => {
  const serials = (iaca: IacaState | undefined) => String(iaca?.held?.map(({ serialNumber }) => serialNumber));
  return after.iacas.filter((iaca, index) => signsCrls(iaca, now) && serials(iaca) !== serials(before.iacas[index]));
};
