import type { RegistrationStatus } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import { hasMultikeys } from './multikeys.js';
import type { DidEvent, DidKey, DidMethod, KeyAlgorithm } from './did.events.js';

export interface Reservation {
  algorithm: KeyAlgorithm;
  /** RFC 3339. */
  reservedAt: string;
}

export interface ActiveDid {
  status: 'active';
  did: string;
  method: DidMethod;
  keys: DidKey[];
  document: Record<string, unknown>;
  registrationStatus: RegistrationStatus;
  registered: number;
  /** Proofs may name each `Multikey` of the document. */
  areMultikeysPublished: boolean;
  /** By configuration id. */
  reservations: ReadonlyMap<string, Reservation>;
}

export interface DidBeingDeleted {
  status: 'deleting';
  did: string;
  keys: DidKey[];
}

export type DidState = { status: 'absent' } | ActiveDid | DidBeingDeleted | { status: 'deleted' };

/** The natural key: this stream's expected revision ensures that a tenant has a DID only once. */
export const didStream = (tenantId: string, did: string): string => `did-${tenantId}+${did}`;

const evolve = (state: DidState, event: DidEvent): DidState => {
  switch (event.type) {
    case 'DidCreated':
      return {
        ...{ status: 'active', ...event.data, reservations: new Map() },
        areMultikeysPublished: event.data.registrationStatus === 'COMPLETED' && hasMultikeys(event.data.document),
      };
    case 'DidPublicationSeen':
      return state.status === 'active' ? { ...state, registrationStatus: 'COMPLETED' } : state;
    case 'DidDocumentUpdated':
      return state.status === 'active'
        ? { ...state, document: event.data.document, areMultikeysPublished: false }
        : state;
    case 'DidMultikeysSeen':
      return state.status === 'active' ? { ...state, areMultikeysPublished: true } : state;
    case 'DidReserved': {
      if (state.status !== 'active') return state;
      const { configurationId, ...reservation } = event.data;
      return { ...state, reservations: new Map(state.reservations).set(configurationId, reservation) };
    }
    case 'DidReleased': {
      if (state.status !== 'active') return state;
      const { configurationId } = event.data;
      return { ...state, reservations: new Map([...state.reservations].filter(([id]) => id !== configurationId)) };
    }
    case 'DidDeletionStarted':
      return state.status === 'active' ? { status: 'deleting', did: state.did, keys: state.keys } : state;
    case 'DidDeleted':
      return { status: 'deleted' };
  }
};

export const did: Aggregate<DidState, DidEvent> = {
  category: 'did',
  initial: { status: 'absent' },
  types: {
    DidCreated: 1,
    DidPublicationSeen: 1,
    DidDocumentUpdated: 1,
    DidMultikeysSeen: 1,
    DidReserved: 1,
    DidReleased: 1,
    DidDeletionStarted: 1,
    DidDeleted: 1,
  },
  evolve,
};
