import { conflict } from '@attestry/contracts';
import type { CredentialRecordedData, IssuedCredentialEvent } from './issued-credential.events.js';
import type { IssuedCredentialState } from './issued-credential.state.js';

export const recordCredential = (
  state: IssuedCredentialState,
  data: CredentialRecordedData,
): IssuedCredentialEvent[] => {
  if (state.status !== 'absent') throw conflict('The credential exists already');
  return [{ type: 'CredentialRecorded', data }];
};
