import type { Aggregate } from '@attestry/event-store';
import type { PersistedCredentialEvent } from './persisted-credential.events.js';

/** Without the document, which only its reader loads. */
export type PersistedCredentialState =
  { status: 'absent' } | { status: 'kept'; credentialId: string } | { status: 'erased' };

export const persistedCredentialStream = (tenantId: string, credentialId: string): string =>
  `persistedCredential-${tenantId}+${credentialId}`;

const evolve = (
  _state: PersistedCredentialState,
  { type, data }: PersistedCredentialEvent,
): PersistedCredentialState => {
  switch (type) {
    case 'CredentialPersisted':
      return { status: 'kept', credentialId: data.credentialId };
    case 'PersistedCredentialErased':
      return { status: 'erased' };
  }
};

/** A stream of its own, because followers of credentials read their events and not the documents (ADR 0070). */
export const persistedCredential: Aggregate<PersistedCredentialState, PersistedCredentialEvent> = {
  category: 'persistedCredential',
  initial: { status: 'absent' },
  types: { CredentialPersisted: 1, PersistedCredentialErased: 1 },
  evolve,
};
