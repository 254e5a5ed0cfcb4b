import { conflict } from '@attestry/contracts';
import type { CredentialPersistedData, PersistedCredentialEvent } from './persisted-credential.events.js';
import type { PersistedCredentialState } from './persisted-credential.state.js';

export const persistCredential = (
  state: PersistedCredentialState,
  data: CredentialPersistedData,
): PersistedCredentialEvent[] => {
  if (state.status !== 'absent') throw conflict('The credential exists already');
  return [{ type: 'CredentialPersisted', data }];
};

/** No event for a credential that was not kept, or whose document was erased. */
export const erasePersistedCredential = (state: PersistedCredentialState): PersistedCredentialEvent[] =>
  state.status === 'kept'
    ? [
        {
          type: 'PersistedCredentialErased',
          data: { credentialId: state.credentialId, destroyedKeys: [state.credentialId] },
        },
      ]
    : [];
