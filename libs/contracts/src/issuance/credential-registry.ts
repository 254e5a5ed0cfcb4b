import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { BoundedText, Optional, Uuid } from '../validators.js';

export class IssuedCredentialParams {
  /** Id of the credential. */
  @Uuid() id: string;
}

export class ListIssuedCredentialsQuery extends PageQuery {
  /** Only credentials with exactly this `type`. */
  @Optional() @BoundedText(1024) type?: string;
  /** Only credentials with exactly this tag. Credentials that wallets collect have none. */
  @Optional() @BoundedText(1024) tag?: string;
}

/** Metadata of an issued credential. */
export class RegisteredCredential {
  id: string;
  /** `type` of the configuration. */
  type: string;
  credentialConfigurationId: string;
  userId: string;
  issuanceDate: string;
  validFrom: string;
  validUntil?: string;
}

export class PersistedCredential extends RegisteredCredential {
  /** The credential itself. Absent if its configuration did not have `persist: true` when it was issued. */
  credential?: Record<string, unknown>;
}

const DELETION =
  'Removes the metadata and the persisted credential. A credential with a status is revoked for good; without one it is not revoked. Credentials of deleted users do not exist.';

export const credentialDeletion = ({
  profile,
  prefix,
  description = DELETION,
}: {
  profile: string;
  prefix: string;
  description?: string;
}) =>
  defineOperation({
    name: `issuance.delete-issued-credential.${profile}` as const,
    since: 'v2.1.0',
    summary: `Delete the record of an issued ${profile} credential`,
    description,
    http: { method: 'DELETE', path: `/v2/credentials/${profile}/:id`, success: 204 },
    access: requires('credentials:delete'),
    analytics: {
      prefix: `${prefix}_DELETE`,
      category: `credential-${profile}`,
      object: { type: 'credential', from: 'params.id' },
      metadata: ['userId', 'credentialConfigurationId', 'status'],
      effects: 'outside',
    },
    params: IssuedCredentialParams,
    errorStatuses: [400, 404],
  });

/** Three operations per format, which differ only in path and event prefix. */
export const registryOperations = ({ profile, prefix }: { profile: string; prefix: string }) => {
  const path = `/v2/credentials/${profile}`;
  const category = `credential-${profile}`;
  const object = { type: 'credential', from: 'params.id' } as const;
  const since = 'v2.1.0';
  const one = { since, params: IssuedCredentialParams, errorStatuses: [400, 404] } as const;
  return {
    list: defineOperation({
      since,
      name: `issuance.list-issued-credentials.${profile}` as const,
      summary: `Retrieve the metadata of the issued ${profile} credentials, oldest first`,
      description: 'Credentials of deleted users are not listed.',
      http: { method: 'GET', path, success: 200 },
      access: requires('credentials:read'),
      analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
      query: ListIssuedCredentialsQuery,
      response: [RegisteredCredential] as const,
      errorStatuses: [400],
    }),
    retrieve: defineOperation({
      ...one,
      name: `issuance.retrieve-issued-credential.${profile}` as const,
      summary: `Retrieve an issued ${profile} credential`,
      description:
        'The credential itself is returned only if it was persisted. Credentials of deleted users do not exist.',
      http: { method: 'GET', path: `${path}/:id`, success: 200 },
      access: requires('credentials:read'),
      analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
      response: PersistedCredential,
    }),
    delete: credentialDeletion({ profile, prefix }),
  };
};

export type RegistryOperations = ReturnType<typeof registryOperations>;
