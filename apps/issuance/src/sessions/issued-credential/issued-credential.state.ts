import type { CredentialStatus } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { CredentialRecordedData, IssuedCredentialEvent, StatusEntry } from './issued-credential.events.js';

/** Without the document, which only its readers load. */
export type IssuedCredentialState =
  | { status: 'absent' }
  | ({
      status: 'recorded';
      documentKeyId?: string;
      /** Absent for a credential without status. */
      listed?: StatusEntry & { status: CredentialStatus };
    } & Omit<CredentialRecordedData, 'document' | 'status'>)
  | { status: 'deleted' };

export const issuedCredentialStream = (tenantId: string, credentialId: string): string =>
  `credential-${tenantId}+${credentialId}`;

const evolve = (state: IssuedCredentialState, { type, data }: IssuedCredentialEvent): IssuedCredentialState => {
  switch (type) {
    case 'CredentialRecorded': {
      const { document, status: entry, ...facts } = data;
      return {
        ...facts,
        status: 'recorded',
        ...(document && { documentKeyId: document.keyId }),
        ...(entry && { listed: { ...entry, status: 'valid' } }),
      };
    }
    case 'CredentialStatusChanged':
      if (state.status !== 'recorded' || !state.listed) return state;
      return { ...state, listed: { ...state.listed, status: data.status } };
    case 'CredentialDeleted':
      return { status: 'deleted' };
  }
};

export const issuedCredential: Aggregate<IssuedCredentialState, IssuedCredentialEvent> = {
  category: 'credential',
  initial: { status: 'absent' },
  types: { CredentialRecorded: 1, CredentialStatusChanged: 1, CredentialDeleted: 1 },
  evolve,
};
