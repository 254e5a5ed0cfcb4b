import { DAY_MS, hasEnded, wholeSecond } from './certificate-period.decisions.js';
import { requireUnmanaged } from './iaca.decisions.js';
import type { MobileCertificatesEvent, StoredCrl, StoredX509 } from './mobile-certificates.events.js';
import type { IacaState, MobileCertificatesState } from './mobile-certificates.state.js';

/** ISO/IEC 18013-5 Annex B.1.5 allows at most 90 days. */
const CRL_DAYS = 30;

const CRL_DAYS_IN_USE = 15;

/** Whether another CRL is made of a managed IACA. */
export const isCrlDue = (state: MobileCertificatesState, id: string, now: Date): boolean => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === id);
  return iaca?.crl?.dueAt !== undefined && now >= new Date(iaca.crl.dueAt) && signsCrls(iaca, now);
};

/** Whether the platform signs CRLs of an IACA: its key is destroyed after its end. */
export const signsCrls = (iaca: IacaState, now: Date): boolean =>
  iaca.keyId !== undefined && !iaca.isKeyDestroyed && !hasEnded(iaca, now);

/** `dueAt` is absent where the IACA, and with it every signer, ends before. */
export const crlPeriod = (
  { data }: StoredX509,
  now: Date,
): { thisUpdate: Date; nextUpdate: Date; dueAt: Date | undefined } => {
  const thisUpdate = wholeSecond(now);
  const after = (days: number) => new Date(thisUpdate.getTime() + days * DAY_MS);
  const dueAt = after(CRL_DAYS_IN_USE);
  return { thisUpdate, nextUpdate: after(CRL_DAYS), dueAt: dueAt < new Date(data.notAfter) ? dueAt : undefined };
};

/** Whether the owner of an IACA must upload a CRL. */
export const isUploadDue = ({ keyId, crl, revoked, held = [] }: IacaState, now: Date): boolean =>
  keyId === undefined &&
  ([...revoked, ...held].some(({ serialNumber }) => !crl?.revoked.includes(serialNumber)) ||
    (crl !== undefined && now >= new Date(crl.nextUpdate)));

/** Only serial numbers of this tenant's signers are kept. @throws AppError 404; 400 for a managed IACA */
export const publishUploadedCrl = (
  state: MobileCertificatesState,
  iacaId: string,
  { revoked, ...crl }: Omit<StoredCrl, 'iacaId' | 'dueAt' | 'revoked'> & { revoked: readonly string[] },
): MobileCertificatesEvent[] => {
  const iaca = requireUnmanaged(state, iacaId);
  const ours = new Set(
    [...iaca.revoked, ...state.signers.filter((one) => one.iacaId === iacaId)].map(({ serialNumber }) => serialNumber),
  );
  return [{ type: 'CrlPublished', data: { iacaId, ...crl, revoked: revoked.filter((serial) => ours.has(serial)) } }];
};
