import type { RegisteredCredential, UserCredential } from '@attestry/contracts';

/** A row of the list of credentials as the API shows it. */
export const issuedCredentialView = (row: { user_id: string; record: string }): RegisteredCredential => {
  const { id, type, credentialConfigurationId, issuedDate, validFrom, validUntil } = JSON.parse(
    row.record,
  ) as UserCredential;
  return {
    ...{ id, type, credentialConfigurationId, userId: row.user_id, issuanceDate: issuedDate, validFrom },
    ...(validUntil !== undefined && { validUntil }),
  };
};
