import type { DocumentSigner, Iaca } from '@attestry/contracts';
import { isUploadDue } from './revocation-list.decisions.js';
import type { StoredX509 } from './mobile-certificates.events.js';
import type { IacaState, SignerState } from './mobile-certificates.state.js';

export const iacaView = (iaca: IacaState, now: Date): Iaca => {
  const { number, thisUpdate, nextUpdate } = iaca.crl ?? {};
  return {
    id: iaca.iacaId,
    active: iaca.active,
    ...certificateView(iaca),
    isManaged: iaca.keyId !== undefined,
    ...(number !== undefined && { crl: { number, thisUpdate: thisUpdate!, nextUpdate: nextUpdate! } }),
    crlDue: isUploadDue(iaca, now),
  };
};

/** A signer of a managed IACA is active until it is replaced or revoked. */
export const signerView = (signer: SignerState, now: Date): DocumentSigner => ({
  id: signer.documentSignerId,
  iacaId: signer.iacaId,
  active:
    signer.revokedAt === undefined && (signer.kind === 'requested' ? signer.active : now < new Date(signer.signsUntil)),
  isManaged: signer.kind === 'managed',
  ...(signer.kind === 'requested' && { csrPem: signer.csr }),
  ...(signer.certificate !== undefined && certificateView(signer as StoredX509)),
  ...(signer.revokedAt !== undefined && { revocationDate: signer.revokedAt }),
});

const certificateView = ({ certificate, data, fingerprint }: StoredX509) => ({
  certificatePem: pemOf(certificate),
  certificateData: data,
  certificateFingerprint: fingerprint,
});

/** RFC 7468 §2. */
const pemOf = (base64: string): string =>
  `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?!$)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
