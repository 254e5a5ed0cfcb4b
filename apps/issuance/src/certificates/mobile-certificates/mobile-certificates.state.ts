import type { Aggregate } from '@attestry/event-store';
import type {
  IssuedSigner,
  MobileCertificatesEvent,
  RequestedSigner,
  StoredCrl,
  StoredIaca,
  StoredX509,
} from './mobile-certificates.events.js';

/** For the CRL, RFC 5280 §5.1.2.6. */
export interface RevokedSigner {
  serialNumber: string;
  revokedAt: string;
  notAfter: string;
}

/** Mark of a private key that is no longer in the vault. */
interface Destroyable {
  isKeyDestroyed?: true;
}

export interface IacaState extends StoredIaca, Destroyable {
  active: boolean;
  crl?: StoredCrl;
  /** Oldest first, without those that had ended before the CRL. */
  revoked: readonly RevokedSigner[];
  /** Signers under a domain that the tenant has lost (ADR 0081); absent without any. */
  held?: readonly RevokedSigner[];
}

export type ManagedSigner = { kind: 'managed'; revokedAt?: string } & IssuedSigner & Destroyable;
export type RequestedSignerState = {
  kind: 'requested';
  active: boolean;
  changedAt?: string;
  revokedAt?: string;
} & RequestedSigner &
  Partial<StoredX509> &
  Destroyable;
export type SignerState = ManagedSigner | RequestedSignerState;

/** Oldest first. */
export interface MobileCertificatesState {
  iacas: readonly IacaState[];
  /** Without those of managed IACAs that had ended, and whose keys were destroyed, when the last one was made. */
  signers: readonly SignerState[];
  /** Domains that the tenant has lost, and since when. */
  lostDomains?: readonly { domain: string; heldAt: string }[];
  /** Revision of the newest change of a domain; absent before the first. */
  domainRevision?: number;
}

/** One stream per tenant: the numbers of IACAs and signers are limited, and CRL numbers only grow. */
export const mobileCertificatesStream = (tenantId: string): string => `mobileCertificates-${tenantId}`;

const evolve = (state: MobileCertificatesState, event: MobileCertificatesEvent): MobileCertificatesState =>
  holdSigners(applyEvent(state, event));

/**
 * Signers that are made or certified after the domain was lost are held too; those of status lists, which show that the documents are
 * invalid, are not.
 */
const holdSigners = (state: MobileCertificatesState): MobileCertificatesState => {
  if (state.lostDomains === undefined) return state;
  const iacas = state.iacas.map(({ held: _, ...iaca }): IacaState => {
    const held = state.signers.flatMap((one): RevokedSigner[] => {
      if (one.iacaId !== iaca.iacaId || one.certificate === undefined || one.revokedAt !== undefined) return [];
      if (one.documents === 'statusList') return [];
      const heldAt = lostSince(state, iaca, one as StoredX509);
      const { serialNumber, data } = one as StoredX509;
      return heldAt === undefined ? [] : [{ serialNumber, revokedAt: heldAt, notAfter: data.notAfter }];
    });
    return { ...iaca, ...(held.length && { held }) };
  });
  return { ...state, iacas };
};

/** Since when the tenant has lost a domain that one of the certificates names. */
export const lostSince = (
  { lostDomains = [] }: MobileCertificatesState,
  ...certificates: readonly Pick<StoredX509, 'hosts'>[]
): string | undefined =>
  lostDomains.find(({ domain }) => certificates.some(({ hosts }) => hosts?.includes(domain)))?.heldAt;

const applyEvent = (state: MobileCertificatesState, event: MobileCertificatesEvent): MobileCertificatesState => {
  switch (event.type) {
    case 'IacaCreated':
      return { ...state, iacas: [...state.iacas, { ...event.data, active: false, revoked: [] }] };
    case 'IacaUpdated':
      return changeIaca(state, event.data.iacaId, (iaca) => ({ ...iaca, active: event.data.active }));
    case 'IacaDeleted': {
      const isLeft = ({ iacaId }: { iacaId: string }) => iacaId !== event.data.iacaId;
      return { ...state, iacas: state.iacas.filter(isLeft), signers: state.signers.filter(isLeft) };
    }
    case 'CrlPublished': {
      const crl = event.data;
      const revoked = (iaca: IacaState) => iaca.revoked.filter(({ notAfter }) => notAfter >= crl.thisUpdate);
      return changeIaca(state, crl.iacaId, (iaca) => ({ ...iaca, crl, revoked: revoked(iaca) }));
    }
    case 'DocumentSignerIssued': {
      const signer = event.data;
      const isLasting = (one: SignerState) =>
        one.kind === 'requested' || !one.isKeyDestroyed || one.data.notAfter > signer.data.notBefore;
      return { ...state, signers: [...state.signers.filter(isLasting), { kind: 'managed', ...signer }] };
    }
    case 'DocumentSignerRequested':
      return { ...state, signers: [...state.signers, { kind: 'requested', active: false, ...event.data }] };
    case 'DocumentSignerUpdated': {
      const { issued, keyId: _, ...change } = event.data;
      return changeSigner(state, change.documentSignerId, (one) =>
        one.kind === 'managed' ? one : { ...one, ...issued, ...change },
      );
    }
    case 'DocumentSignerRevoked':
      return revokeSigner(state, event.data);
    case 'DocumentSignerDeleted': {
      const { documentSignerId: id } = event.data;
      return { ...state, signers: state.signers.filter(({ documentSignerId }) => documentSignerId !== id) };
    }
    case 'CertificateKeysDestroyed': {
      const mark = <One extends { keyId?: string }>(one: One): One =>
        event.data.destroyedKeys.includes(one.keyId!) ? { ...one, isKeyDestroyed: true } : one;
      return { ...state, iacas: state.iacas.map(mark), signers: state.signers.map(mark) };
    }
    case 'SignersOfDomainHeld': {
      const { revision: domainRevision, ...lost } = event.data;
      return { ...state, domainRevision, lostDomains: [...domainsBeside(state, lost.domain), lost] };
    }
    case 'SignersOfDomainReleased': {
      const { revision: domainRevision, domain } = event.data;
      return { ...state, domainRevision, lostDomains: domainsBeside(state, domain) };
    }
  }
};

const domainsBeside = ({ lostDomains = [] }: MobileCertificatesState, domain: string) =>
  lostDomains.filter((lost) => lost.domain !== domain);

const changeIaca = (
  state: MobileCertificatesState,
  id: string,
  change: (iaca: IacaState) => IacaState,
): MobileCertificatesState => ({
  ...state,
  iacas: state.iacas.map((iaca) => (iaca.iacaId === id ? change(iaca) : iaca)),
});

const changeSigner = (
  state: MobileCertificatesState,
  id: string,
  change: (signer: SignerState) => SignerState,
): MobileCertificatesState => ({
  ...state,
  signers: state.signers.map((one) => (one.documentSignerId === id ? change(one) : one)),
});

const revokeSigner = (
  state: MobileCertificatesState,
  { documentSignerId, revokedAt }: { documentSignerId: string; revokedAt: string },
): MobileCertificatesState => {
  const found = state.signers.find((one) => one.documentSignerId === documentSignerId);
  const changed = changeSigner(state, documentSignerId, (one) => ({ ...one, revokedAt }));
  if (found?.serialNumber === undefined) return changed;
  const revoked: RevokedSigner = { serialNumber: found.serialNumber, revokedAt, notAfter: found.data!.notAfter };
  return changeIaca(changed, found.iacaId, (iaca) => ({ ...iaca, revoked: [...iaca.revoked, revoked] }));
};

export const mobileCertificates: Aggregate<MobileCertificatesState, MobileCertificatesEvent> = {
  category: 'mobileCertificates',
  initial: { iacas: [], signers: [] },
  types: {
    IacaCreated: 1,
    IacaUpdated: 1,
    IacaDeleted: 1,
    CrlPublished: 1,
    DocumentSignerIssued: 1,
    DocumentSignerRequested: 1,
    DocumentSignerUpdated: 1,
    DocumentSignerRevoked: 1,
    DocumentSignerDeleted: 1,
    CertificateKeysDestroyed: 1,
    SignersOfDomainHeld: 1,
    SignersOfDomainReleased: 1,
  },
  evolve,
};
