import { IsBoolean, IsIn } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { Name, Optional, Uuid } from '../validators.js';

/** Statuses of a credential; `invalid` is final, except for formats with operations on revocation. */
export const CREDENTIAL_STATUSES = ['valid', 'suspended', 'invalid'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];

/** A status in a request. */
export const StatusName = (): PropertyDecorator =>
  IsIn(CREDENTIAL_STATUSES, { message: `must be one of: ${CREDENTIAL_STATUSES.join(', ')}` });

export class CredentialStatusParams {
  /** Id of the credential. */
  @Uuid() id: string;
}

export class SetCredentialStatusRequest {
  /** `valid` and `suspended` can be changed; `invalid` is final. */
  @StatusName() status: CredentialStatus;
  /**
   * Why the status changes: 1 to 256 characters without control characters. It is recorded in the analytics events and sent to webhooks as it
   * is, so it must not contain personal data.
   */
  @Optional() @Name(256) reason?: string;
}

export class CredentialStatusAnswer {
  status: CredentialStatus;
}

/** Two operations per format, which differ only in path and event prefix. */
export const statusOperations = ({ profile, prefix }: { profile: string; prefix: string }) => {
  const http = { path: `/v2/credentials/${profile}/:id/status` } as const;
  const object = { type: 'credential', from: 'params.id' } as const;
  const shared = {
    since: 'v2.1.0',
    errors: 'tenant',
    params: CredentialStatusParams,
    response: CredentialStatusAnswer,
    errorStatuses: [400, 404],
  } as const;
  const category = `credential-${profile}`;
  return {
    set: defineOperation({
      ...shared,
      name: `issuance.set-credential-status.${profile}` as const,
      summary: `Set the status of a ${profile} credential`,
      description:
        'The published status list follows within seconds. A status that the credential has already changes nothing. Returns 400 if the credential is `invalid`, or if its configuration was not revocable when it was issued.',
      http: { ...http, method: 'POST', success: 201, maxBodyBytes: 16_384 },
      access: requires('credential-status:update'),
      analytics: {
        prefix: `${prefix}_SET`,
        category,
        object,
        metadata: ['userId', 'credentialConfigurationId', 'status', 'reason'],
      },
      body: SetCredentialStatusRequest,
      example: { status: 'invalid', reason: 'Device lost' },
    }),
    retrieve: defineOperation({
      ...shared,
      name: `issuance.retrieve-credential-status.${profile}` as const,
      summary: `Retrieve the status of a ${profile} credential`,
      description: 'Returns 400 if the configuration of the credential was not revocable when it was issued.',
      http: { ...http, method: 'GET', success: 200 },
      access: requires('credential-status:read'),
      analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
    }),
  };
};

export type StatusOperations = ReturnType<typeof statusOperations>;

export class SetRevocationStatusRequest {
  /** False restores a revoked credential. */
  @IsBoolean({ message: 'must be a boolean' }) isRevoked: boolean;
}

export class RevocationStatus {
  isRevoked: boolean;
}

export class CredentialRevocationStatus extends RevocationStatus {
  /** Id of the credential. */
  id: string;
}

/** Two operations per format whose credentials are revoked and restored, which differ in path, event prefix and response. */
export const revocationOperations = ({
  profile,
  prefix,
  retrievePrefix = `${prefix}_RETRIEVE_STATUS`,
  response = CredentialRevocationStatus,
}: {
  profile: string;
  prefix: string;
  retrievePrefix?: string;
  /** Of the operation that sets the status. */
  response?: typeof CredentialRevocationStatus | 'empty';
}) => {
  const http = { path: `/v2/credentials/${profile}/:id/revocation-status` } as const;
  const object = { type: 'credential', from: 'params.id' } as const;
  const shared = {
    since: 'v2.1.0',
    errors: 'tenant',
    params: CredentialStatusParams,
    errorStatuses: [400, 404],
  } as const;
  const category = `credential-${profile}`;
  return {
    set: defineOperation({
      ...shared,
      name: `issuance.set-revocation-status.${profile}` as const,
      summary: `Revoke or restore a ${profile} credential`,
      description:
        'The published revocation list follows within seconds. A status that the credential has already changes nothing. Returns 400 if the configuration of the credential was not revocable when it was issued.',
      http: {
        ...http,
        ...{ method: 'POST', success: 200, maxBodyBytes: 16_384 },
        ...(response === 'empty' && { noContent: true }),
      },
      access: requires('credential-status:update'),
      analytics: {
        prefix: `${prefix}_SET_STATUS`,
        category,
        object,
        metadata: ['userId', 'credentialConfigurationId', 'status'],
      },
      body: SetRevocationStatusRequest,
      ...(response !== 'empty' && { response }),
      example: { isRevoked: true },
    }),
    retrieve: defineOperation({
      ...shared,
      name: `issuance.retrieve-revocation-status.${profile}` as const,
      summary: `Retrieve whether a ${profile} credential is revoked`,
      description: 'Returns 400 if the configuration of the credential was not revocable when it was issued.',
      http: { ...http, method: 'GET', success: 200 },
      access: requires('credential-status:read'),
      analytics: { prefix: retrievePrefix, category, object },
      response: RevocationStatus,
    }),
  };
};

export type RevocationOperations = ReturnType<typeof revocationOperations>;
