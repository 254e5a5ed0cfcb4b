import type { Aggregate } from '@attestry/event-store';
import type { IssuerCertificatesEvent, StoredCertificate, StoredSigner } from './issuer-certificates.events.js';

/** Oldest first, without those that had ended when the last one was made. */
export interface IssuerCertificatesState {
  authorities: readonly StoredCertificate[];
  signers: readonly StoredSigner[];
  /** Newest epoch that renewed a certificate. */
  epoch: number;
}

/** One stream per tenant: a signer and the CA that it is made with are appended together. */
export const issuerCertificatesStream = (tenantId: string): string => `issuerCertificates-${tenantId}`;

const evolve = (state: IssuerCertificatesState, { type, data }: IssuerCertificatesEvent): IssuerCertificatesState => {
  const { epoch = state.epoch, ...added } = data;
  const lasting = <Kept extends StoredCertificate>(all: readonly Kept[]) =>
    all.filter(({ notAfter }) => notAfter > data.notBefore);
  const authorities = lasting(state.authorities);
  const signers = lasting(state.signers);
  switch (type) {
    case 'IssuerCaCreated':
      return { epoch, signers, authorities: [...authorities, added] };
    case 'IssuerSignerCreated':
      return { epoch, authorities, signers: [...signers, added as StoredSigner] };
  }
};

export const issuerCertificates: Aggregate<IssuerCertificatesState, IssuerCertificatesEvent> = {
  category: 'issuerCertificates',
  isAuxiliary: true,
  initial: { authorities: [], signers: [], epoch: 0 },
  types: { IssuerCaCreated: 1, IssuerSignerCreated: 1 },
  evolve,
};
