import {
  conflict,
  invalid,
  invalidBody,
  notFound,
  type CredentialFormat,
  type CredentialStatus,
} from '@attestry/contracts';
import type {
  CredentialDeletedData,
  CredentialRecordedData,
  IssuedCredentialEvent,
} from './issued-credential.events.js';
import type { IssuedCredentialState } from './issued-credential.state.js';

export const recordCredential = (
  state: IssuedCredentialState,
  data: CredentialRecordedData,
): IssuedCredentialEvent[] => {
  if (state.status !== 'absent') throw conflict('The credential exists already');
  return [{ type: 'CredentialRecorded', data }];
};

/**
 * Deletes even a credential without a stream, which a crash can leave (ADR 0070). One with a status is revoked for good where revocation
 * `isReversible`; elsewhere it keeps its status.
 */
export const deleteCredential = (
  state: IssuedCredentialState,
  issued: Omit<CredentialDeletedData, 'deletedAt'>,
  now: Date,
  isReversible: boolean,
): IssuedCredentialEvent[] => {
  if (state.status === 'deleted') throw notFound();
  const isRevoked = isReversible && state.status === 'recorded' && state.listed;
  const revoked = isRevoked ? changeStatus(state, { format: state.format, status: 'invalid' }, now) : [];
  return [...revoked, { type: 'CredentialDeleted', data: { ...issued, deletedAt: now.toISOString() } }];
};

type Recorded = Extract<IssuedCredentialState, { status: 'recorded' }>;
export type ListedCredential = Recorded & Required<Pick<Recorded, 'listed'>>;

/** The credential with its status. Under the path of another format it does not exist. */
export const listedCredential = (state: IssuedCredentialState, format: CredentialFormat): ListedCredential => {
  if (state.status !== 'recorded' || state.format !== format) throw notFound();
  const { credentialId, listed } = state;
  if (!listed) {
    const msg = 'must be a credential with a status: its configuration was not revocable when it was issued';
    throw invalid({ value: credentialId, msg, param: 'id', location: 'params' });
  }
  return { ...state, listed };
};

/** No event when it has the status already. `invalid` is final unless revocation `isReversible`. */
export const changeStatus = (
  state: IssuedCredentialState,
  command: { format: CredentialFormat; status: CredentialStatus; reason?: string; isReversible?: boolean },
  now: Date,
): IssuedCredentialEvent[] => {
  const credential = listedCredential(state, command.format);
  const { listId, index, status: former } = credential.listed;
  const { status, reason, isReversible } = command;
  if (status === former) return [];
  if (former === 'invalid' && !isReversible)
    throw invalidBody('status', 'must be invalid: the credential is invalid, which is final', status);
  const { credentialId, userId, credentialConfigurationId, format, profile, issuedAt } = credential;
  return [
    {
      type: 'CredentialStatusChanged',
      data: {
        credentialId,
        status,
        former,
        ...(reason !== undefined && { reason }),
        changedAt: now.toISOString(),
        listId,
        index,
        userId,
        credentialConfigurationId,
        format,
        profile,
        issuedAt,
      },
    },
  ];
};
