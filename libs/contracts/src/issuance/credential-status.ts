import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { combine, Name, Optional, Unique, Uuid } from '../validators.js';

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
  /** Response of the operation that sets the status. */
  response?: typeof CredentialRevocationStatus | 'empty';
}) => {
  const http = { path: `/v2/credentials/${profile}/:id/revocation-status` } as const;
  const object = { type: 'credential', from: 'params.id' } as const;
  const shared = {
    since: 'v2.1.0',
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

const MAX_DID = 2048;
/** DID Core §3.1. */
const DID = /^did:[a-z0-9]+:(?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+$/;
const DID_FAULT = `must be a DID of at most ${MAX_DID} characters`;
const DIDS_FAULT = `must contain only DIDs of at most ${MAX_DID} characters`;

const Did = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    MaxLength(MAX_DID, { message: DID_FAULT }),
    Matches(DID, { message: DID_FAULT }),
  );

/** 1 to `max` DIDs, each once. */
const Dids = (max: number): PropertyDecorator =>
  combine(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayMaxSize(max, { message: `must have at most ${max} entries` }),
    IsString({ each: true, message: 'must contain only strings' }),
    MaxLength(MAX_DID, { each: true, message: DIDS_FAULT }),
    Matches(DID, { each: true, message: DIDS_FAULT }),
    Unique(),
  );

export class RevocationNotificationRequest {
  /** DID of the tenant that sends the message. */
  @Did() from: string;

  /** DIDs that receive the message: 1 to 100, each once. */
  @Dids(100) to: string[];
}

export class RevocationNotificationBody {
  /** `ldp_vc`, the format of the credential. */
  revocation_format: string;
  /** `id` of the credential, `urn:uuid:` and its id. */
  credential_id: string;
}

/** Plaintext message of DIDComm 2.0. */
export class RevocationNotification {
  /** UUID of the message. */
  id: string;
  /** `https://didcomm.org/revocation_notification/2.0/revoke` */
  type: string;
  from: string;
  to: string[];
  /** Seconds since 1970. */
  created_time: number;
  body: RevocationNotificationBody;
}

export const createRevocationNotification = defineOperation({
  name: 'issuance.create-revocation-notification',
  since: 'v2.1.0',
  summary: 'Create the message that notifies the holder of a revoked web-semantic credential (Aries RFC 0721)',
  description:
    'The message is neither stored nor sent: encrypt the response and send it to the holder. Returns 400 if `from` is not a DID of the tenant, or if the credential is not revoked.',
  kind: 'query',
  http: {
    method: 'POST',
    path: '/v2/credentials/web-semantic/:id/revocation-status/notification',
    success: 201,
    maxBodyBytes: 262_144,
  },
  access: requires('credential-status:update'),
  analytics: {
    prefix: 'CREDENTIAL_WEB_SEMANTIC_REVOCATION_MESSAGE_PAYLOAD_CREATE',
    category: 'credential-web-semantic',
    object: { type: 'credential', from: 'params.id' },
  },
  params: CredentialStatusParams,
  body: RevocationNotificationRequest,
  example: {
    from: 'did:web:university.example',
    to: ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
  },
  response: RevocationNotification,
  errorStatuses: [400, 404],
});
