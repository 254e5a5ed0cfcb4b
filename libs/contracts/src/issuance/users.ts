import { defineOperation, requires } from '../operation.js';
import { PageCursor, PageLimit, PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, BoundedText, Nested, Optional, Uuid } from '../validators.js';
import { CLAIM_BOUNDS } from './claim-bounds.js';
import type { CredentialStatus } from './credential-status.js';
import type { CredentialFormat, CredentialProfile } from './formats.js';

// Users are the people who hold credentials of the tenant. Their claims are sealed under a key of each user.

export class CreateUserRequest {
  /** Claims of the user, at most 384 KiB as JSON. */
  @Optional() @IsRecord() @BoundedJson(CLAIM_BOUNDS) claims?: Record<string, unknown>;
  /** Read-only: any value is rejected. It is set when the user signs in with the provider. */
  @Optional() @BoundedJson() authenticationProvider?: unknown;
}

export class UpdateUserRequest {
  /** Replace all claims of the user; at most 384 KiB as JSON. Default: no claims. */
  @Optional() @IsRecord() @BoundedJson(CLAIM_BOUNDS) claims?: Record<string, unknown>;
}

export class User {
  id: string;
  claims: Record<string, unknown>;
  /** Identity of the user at the authentication provider. Absent until the user signs in with it. */
  authenticationProvider?: UserLink;
}

export class UserLink {
  /** Id of the authentication provider. */
  providerId: string;
  /** Issuer URL of the provider. */
  url: string;
  /** `sub` of the provider's ID tokens. */
  subjectId: string;
}

/** Identity at the authentication provider, of which each given member must be equal. */
export class UserLinkCriteria {
  @Optional() @BoundedText(255) providerId?: string;
  @Optional() @BoundedText(2048) url?: string;
  @Optional() @BoundedText(255) subjectId?: string;
}

/** Most values of a search. */
export const MAX_SEARCH_VALUES = 20;
/** Values of a user by which the user is found. */
export const MAX_SEARCHABLE_VALUES = 500;

export class SearchUsersRequest {
  /**
   * Claims that a user must have. Members of nested objects are compared one by one: a user may have others. Texts, numbers, booleans, null,
   * arrays and empty objects must be equal. At most 20 values with `authenticationProvider`.
   */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: 20, values: 1000, text: 4096 })
  claims?: Record<string, unknown>;
  /** Identity at the authentication provider. */
  @Optional() @Nested(UserLinkCriteria, { message: 'must be an object' }) authenticationProvider?: UserLinkCriteria;
  /** Maximum number of entries of the page. Default 100. A page also ends before its entries have more than 512 KB. */
  @PageLimit() limit?: number;
  /** `nextCursor` of the previous page of the same search. Absent for the first page. */
  @PageCursor() cursor?: string;
}

export class UserParams {
  /** Id of the user. */
  @Uuid() id: string;
}

export class UserCredentialsParams {
  /** Id of the user. */
  @Uuid() userId: string;
}

/** Digest of an element of a credential whose format signs salted digests. */
export interface ElementDigest {
  digestID: number;
  /** SHA-256, base64url. */
  digest: string;
}

/** Metadata of an issued credential. Claim values are not stored. */
export class UserCredential {
  id: string;
  type: string;
  profile: CredentialProfile;
  format: CredentialFormat;
  sessionId: string;
  credentialConfigurationId: string;
  /** Public JWK of the holder's key. */
  devicePublicKey: Record<string, unknown>;
  issuedDate: string;
  validFrom: string;
  validUntil?: string;
  /** Id of the pre-authorized offer from which the credential was issued. */
  offerId?: string;
  /** Absent for a credential that was issued without status. */
  status?: CredentialStatus;
  /** Digests of the elements by namespace and element identifier; only `mso_mdoc` has them. */
  namespaces?: Record<string, Record<string, ElementDigest>>;
  /** SHA-256 of the payload of `issuerAuth` (the mobile security object in tag 24), base64url; only `mso_mdoc` has it. */
  msoHash?: string;
}

/** Limit of a user's claims, as JSON: sealed, they are in one event of less than 1 MiB. */
export const MAX_CLAIMS_BYTES = 384 * 1024;

const category = 'user';

export const createUser = defineOperation({
  name: 'issuance.create-user',
  summary: 'Create a user',
  http: { method: 'POST', path: '/v1/users', success: 201 },
  access: requires('users:create'),
  analytics: { prefix: 'USER_CREATE', category, object: { type: 'user', from: 'stream' } },
  body: CreateUserRequest,
  example: { claims: { given_name: 'Ada' } },
  resource: User,
  response: User,
  secrets: ['claims'],
  errorStatuses: [400],
  idempotent: true,
});

export const listUsers = defineOperation({
  name: 'issuance.list-users',
  summary: 'Retrieve the users of the tenant',
  http: { method: 'GET', path: '/v1/users', success: 200 },
  access: requires('users:read'),
  analytics: { prefix: 'USER_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [User],
  errorStatuses: [400],
});

export const searchUsers = defineOperation({
  name: 'issuance.search-users',
  since: 'v2.1.0',
  summary: 'Search the users of the tenant',
  description:
    'Returns the users that fulfil all criteria; without criteria, all users. A user is found by the first 500 values of their claims. A page may have fewer entries than `limit`, also none, although others follow: the last page has no `nextCursor`.',
  http: { method: 'POST', path: '/v1/users/search', success: 200 },
  kind: 'query',
  access: requires('users:search'),
  analytics: { prefix: 'USER_SEARCH', category },
  body: SearchUsersRequest,
  example: { claims: { address: { locality: 'London' } } },
  response: [User],
  secrets: ['claims', 'authenticationProvider'],
  errorStatuses: [400],
});

export const retrieveUser = defineOperation({
  name: 'issuance.retrieve-user',
  summary: 'Retrieve a user',
  http: { method: 'GET', path: '/v1/users/:id', success: 200 },
  access: requires('users:read'),
  analytics: { prefix: 'USER_RETRIEVE', category, object: { type: 'user', from: 'params.id' } },
  params: UserParams,
  response: User,
  errorStatuses: [400, 404],
});

export const updateUser = defineOperation({
  name: 'issuance.update-user',
  since: 'v2.1.0',
  summary: 'Replace the claims of a user',
  description: 'Credentials that were issued before do not change. `authenticationProvider` is read-only and ignored.',
  http: { method: 'PUT', path: '/v1/users/:id', success: 200 },
  access: requires('users:update'),
  analytics: { prefix: 'USER_UPDATE', category, object: { type: 'user', from: 'params.id' } },
  params: UserParams,
  body: UpdateUserRequest,
  example: { claims: { given_name: 'Ada', family_name: 'Lovelace' } },
  response: User,
  secrets: ['claims'],
  errorStatuses: [400, 401, 403, 404],
});

export const deleteUser = defineOperation({
  name: 'issuance.delete-user',
  summary: 'Delete a user',
  description: 'Destroys the key that encrypts the claims of the user.',
  http: { method: 'DELETE', path: '/v1/users/:id', success: 204 },
  access: requires('users:delete'),
  analytics: { prefix: 'USER_DELETE', category, object: { type: 'user', from: 'params.id' }, effects: 'outside' },
  params: UserParams,
  errorStatuses: [400, 404],
});

export const listUserCredentials = defineOperation({
  name: 'issuance.list-user-credentials',
  summary: 'Retrieve the metadata of the credentials issued to a user',
  http: { method: 'GET', path: '/v1/users/:userId/credentials', success: 200 },
  access: requires('credentials:read'),
  analytics: { prefix: 'USER_CREDENTIAL_RETRIEVE_LIST', category },
  params: UserCredentialsParams,
  query: PageQuery,
  response: [UserCredential],
  errorStatuses: [400, 404],
});
