import type { Aggregate } from '@attestry/event-store';
import type { IssuerCertificatesEvent, StoredCertificate, StoredSigner } from './issuer-certificates.events.js';

export interface KnownSigner extends StoredSigner {
  isKeyDestroyed?: true;
}

/** Oldest first, without those that had ended when the last one was made; signers remain until their key is destroyed. */
export interface IssuerCertificatesState {
  authorities: readonly StoredCertificate[];
  signers: readonly KnownSigner[];
}

/** One stream per tenant: a signer and the CA that it is made with are appended together. */
export const issuerCertificatesStream = (tenantId: string): string => `issuerCertificates-${tenantId}`;

const lastingAt = ({ authorities, signers }: IssuerCertificatesState, time: string): IssuerCertificatesState => ({
  authorities: authorities.filter(({ notAfter }) => notAfter > time),
  signers: signers.filter(({ notAfter, isKeyDestroyed }) => notAfter > time || !isKeyDestroyed),
});

const evolve = (state: IssuerCertificatesState, event: IssuerCertificatesEvent): IssuerCertificatesState => {
  switch (event.type) {
    case 'IssuerCaCreated': {
      const { authorities, signers } = lastingAt(state, event.data.notBefore);
      return { signers, authorities: [...authorities, event.data] };
    }
    case 'IssuerSignerCreated': {
      const { authorities, signers } = lastingAt(state, event.data.notBefore);
      return { authorities, signers: [...signers, event.data] };
    }
    case 'IssuerSignerKeyDestroyed': {
      const { keyId } = event.data;
      const signers = state.signers.map((it) => (it.keyId === keyId ? { ...it, isKeyDestroyed: true as const } : it));
      return { ...state, signers };
    }
  }
};

export const issuerCertificates: Aggregate<IssuerCertificatesState, IssuerCertificatesEvent> = {
  category: 'issuerCertificates',
  isAuxiliary: true,
  initial: { authorities: [], signers: [] },
  types: { IssuerCaCreated: 1, IssuerSignerCreated: 1, IssuerSignerKeyDestroyed: 1 },
  evolve,
};
