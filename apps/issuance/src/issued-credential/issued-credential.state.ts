import type { Aggregate } from '@attestry/event-store';
import type { CredentialRecordedData, IssuedCredentialEvent } from './issued-credential.events.js';

/** Without the document, which only its readers load. */
export type IssuedCredentialState =
  { status: 'absent' } | ({ status: 'recorded'; documentKeyId?: string } & Omit<CredentialRecordedData, 'document'>);

export const issuedCredentialStream = (tenantId: string, credentialId: string): string =>
  `credential-${tenantId}+${credentialId}`;

const evolve = (state: IssuedCredentialState, { type, data }: IssuedCredentialEvent): IssuedCredentialState => {
  switch (type) {
    case 'CredentialRecorded': {
      const { document, ...facts } = data;
      return { status: 'recorded', ...facts, ...(document && { documentKeyId: document.keyId }) };
    }
  }
};

export const issuedCredential: Aggregate<IssuedCredentialState, IssuedCredentialEvent> = {
  category: 'credential',
  initial: { status: 'absent' },
  types: { CredentialRecorded: 1 },
  evolve,
};
