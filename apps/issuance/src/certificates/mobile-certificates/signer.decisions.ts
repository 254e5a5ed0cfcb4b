import { conflict, invalid, invalidBody, notFound } from '@attestry/contracts';
import { endFault, hasEnded, wholeSecond } from './certificate-period.decisions.js';
import { destroyKeys } from './destroyed-keys.decisions.js';
import type { Documents, MobileCertificatesEvent, RequestedSigner, StoredX509 } from './mobile-certificates.events.js';
import type {
  IacaState,
  MobileCertificatesState,
  RequestedSignerState,
  SignerState,
} from './mobile-certificates.state.js';

/** Without signers of managed IACAs. */
const MAX_SIGNERS = { document: 5, 'status list': 3 } as const;

/** Signers of documents and of status lists are different resources. */
export type SignerUse = keyof typeof MAX_SIGNERS;

const useOf = ({ documents }: { documents?: Documents }): SignerUse =>
  documents === 'statusList' ? 'status list' : 'document';

/** @throws AppError 404 */
export const requireSigner = (
  { signers }: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): SignerState => {
  const signer = signers.find((one) => one.documentSignerId === id && useOf(one) === use);
  if (!signer) throw notFound();
  return signer;
};

/** Signers that may still be looked up: without those of managed IACAs that have ended. */
export const publishedSigners = (
  { signers }: MobileCertificatesState,
  now: Date,
  use: SignerUse = 'document',
): SignerState[] => signers.filter((one) => useOf(one) === use && (one.kind === 'requested' || !hasEnded(one, now)));

/** @throws AppError 400, 409 */
export const checkSignerRequest = (
  state: MobileCertificatesState,
  id: string,
  now: Date,
  use: SignerUse = 'document',
): IacaState => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === id);
  if (!iaca) throw invalidBody('iacaId', 'must be the id of an IACA of the tenant', id);
  if (iaca.keyId !== undefined)
    throw invalidBody('iacaId', 'must be an unmanaged IACA: signers of managed ones are made automatically', id);
  if (hasEnded(iaca, now))
    throw invalidBody('iacaId', `must not be an IACA that has ended: it ended at ${iaca.data.notAfter}`, id);
  if (state.signers.filter((one) => one.kind === 'requested' && useOf(one) === use).length >= MAX_SIGNERS[use])
    throw conflict(`A tenant can have at most ${MAX_SIGNERS[use]} ${use} signers of unmanaged IACAs`);
  return iaca;
};

/** @throws AppError 400, 409 */
export const requestSigner = (
  state: MobileCertificatesState,
  signer: RequestedSigner,
  now: Date,
): MobileCertificatesEvent[] => {
  checkSignerRequest(state, signer.iacaId, now, useOf(signer));
  return [{ type: 'DocumentSignerRequested', data: signer }];
};

/** @throws AppError 404; 400 for a signer of a managed IACA */
export const requireRequested = (
  state: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): RequestedSignerState => {
  const signer = requireSigner(state, id, use);
  if (signer.kind === 'requested') return signer;
  throw invalid({
    value: id,
    msg: `must be the id of a ${use} signer of an unmanaged IACA: those of managed ones are renewed automatically`,
    param: 'id',
    location: 'params',
  });
};

export interface UpdateSigner {
  id: string;
  active: boolean;
  issued?: StoredX509 | undefined;
  use?: SignerUse;
}

/** @throws AppError 404, 400 */
export const updateSigner = (
  state: MobileCertificatesState,
  { id, active, issued, use = 'document' }: UpdateSigner,
  now: Date,
): MobileCertificatesEvent[] => {
  const signer = requireRequested(state, id, use);
  const isNew = issued !== undefined && issued.fingerprint !== signer.fingerprint;
  if (signer.revokedAt !== undefined && (active || isNew))
    throw invalidBody(
      'active',
      `must be false, because the document signer was revoked at ${signer.revokedAt}`,
      active,
    );
  if (isNew && signer.certificate !== undefined)
    throw invalidBody('certificatePem', `must not change: create another ${use} signer for another certificate`);
  if (active) {
    const certified = issued ?? (signer.certificate === undefined ? undefined : (signer as StoredX509));
    if (!certified) throw invalidBody('certificatePem', `is required for an active ${use} signer`);
    if (hasEnded(certified, now)) throw invalidBody('active', endFault(certified), active);
  }
  if (!isNew && active === signer.active) return [];
  const changedAt = now.toISOString();
  return [
    {
      type: 'DocumentSignerUpdated',
      data: { documentSignerId: id, active, ...(isNew && { issued, keyId: signer.keyId }), changedAt },
    },
  ];
};

/** @throws AppError 404, 400 */
export const deleteSigner = (
  state: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): MobileCertificatesEvent[] => {
  const signer = requireRequested(state, id, use);
  return [
    { type: 'DocumentSignerDeleted', data: { documentSignerId: id } },
    ...(signer.isKeyDestroyed ? [] : destroyKeys([signer])),
  ];
};

/** None for a signer that is revoked already. @throws AppError 404; 400 without a certificate */
export const revokeSigner = (state: MobileCertificatesState, id: string, now: Date): MobileCertificatesEvent[] => {
  const signer = requireSigner(state, id);
  if (signer.certificate === undefined)
    throw invalid({
      value: id,
      msg: 'must be the id of a document signer with a certificate: one without can be deleted',
      param: 'id',
      location: 'params',
    });
  if (signer.revokedAt !== undefined) return [];
  return [
    { type: 'DocumentSignerRevoked', data: { documentSignerId: id, revokedAt: wholeSecond(now).toISOString() } },
    ...(signer.isKeyDestroyed ? [] : destroyKeys([signer])),
  ];
};
