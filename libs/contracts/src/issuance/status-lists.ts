import { IsInt } from 'class-validator';
import { defineOperation, publicAccess, requires, UNREAD_BODY_BYTES } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Normalize, Optional, Uuid } from '../validators.js';

export class StatusListAggregation {
  /** Addresses of status list tokens, at most 1000. */
  status_lists: string[];
}

export class StatusListParams {
  /** Id of the status list. */
  @Uuid() id: string;
}

/** Seconds since 1970: ten digits end in 2286. */
const toTime = (value: unknown) => (typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value);

export class StatusListTokenQuery {
  /** Time of which the statuses are requested, seconds since 1970 (Token Status List section 8.4). Earlier statuses are not kept: a time outside of `iat` and `exp` of the current token is a 501. */
  @Optional() @Normalize(toTime) @IsInt({ message: 'must be a number of seconds since 1970' }) time?: number;
}

export const retrieveStatusListToken = defineOperation({
  name: 'issuance.retrieve-status-list-token',
  since: 'v2.1.0',
  summary: 'Retrieve a status list token (Token Status List section 8.1)',
  description:
    'The address is `status.status_list.uri` of credentials. The token is a JWT with the media type `application/statuslist+jwt`, or a CWT with `application/statuslist+cwt` where the credentials are CBOR; `Accept` without it is refused. With `time` the current token is returned if it was valid then, otherwise 501: earlier ones are not kept. A changed status is in the token within seconds. A verifier may use a token for its `ttl`. With `If-None-Match` an unchanged token is a 304.',
  http: {
    method: 'GET',
    path: '/v2/credentials/status-lists/:id/token',
    afterDeletion: true,
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    // Shorter than it takes until a change is published.
    document: true,
    cacheControl: 'public, max-age=1',
    mediaType: 'application/statuslist+jwt',
    otherMediaTypes: ['application/statuslist+cwt'],
  },
  access: publicAccess,
  params: StatusListParams,
  query: StatusListTokenQuery,
  errorStatuses: [400, 404, 406, 501, 503],
});

export const retrieveListCredential = defineOperation({
  name: 'issuance.retrieve-status-list-token.web-semantic',
  operationId: 'retrieveRevocationListWebSemantic',
  since: 'v2.1.0',
  summary: 'Retrieve a revocation list of web-semantic credentials',
  description:
    'The address is `credentialStatus.statusListCredential` or `credentialStatus.revocationListCredential` of credentials. The list is a credential itself, of the same issuer and with the same kind of proof: a `BitstringStatusListCredential` for the data model 2.0, a `RevocationList2020Credential` for 1.1. `Accept` decides the media type. A changed status is in the list within seconds. With `If-None-Match` an unchanged list is a 304.',
  http: {
    method: 'GET',
    path: '/v2/credentials/web-semantic/revocation-lists/:id',
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    // Shorter than it takes until a change is published.
    document: true,
    cacheControl: 'public, max-age=1',
    mediaType: 'application/ld+json',
    otherMediaTypes: ['application/vc', 'application/json'],
    afterDeletion: true,
  },
  access: publicAccess,
  params: StatusListParams,
  errorStatuses: [400, 404, 406, 503],
});

export const retrieveStatusListAggregation = defineOperation({
  name: 'issuance.retrieve-status-list-aggregation',
  since: 'v2.1.0',
  summary: 'Retrieve the addresses of all status list tokens (Token Status List section 9)',
  description: 'For verifiers that retrieve lists in advance. Empty before the first revocable configuration.',
  http: {
    method: 'GET',
    path: '/v2/credentials/status-lists/aggregation',
    afterDeletion: true,
    success: 200,
    document: true,
    cacheControl: 'public, max-age=60',
  },
  access: publicAccess,
  response: StatusListAggregation,
});

export class RevocationList {
  id: string;
  /** DID that issues the credentials in the list. */
  issuer: string;
  /** Address of the list, as in credentials. */
  url: string;
}

/** Two operations per format whose status lists are published as revocation lists, too. */
export const revocationListOperations = ({ profile, prefix }: { profile: string; prefix: string }) => {
  const path = `/v2/credentials/${profile}/revocation-lists`;
  return {
    list: defineOperation({
      name: `issuance.list-revocation-lists.${profile}` as const,
      since: 'v2.1.0',
      summary: `Retrieve the revocation lists of ${profile} credentials, oldest first`,
      http: { method: 'GET', path, success: 200 },
      access: requires('credential-status:read'),
      analytics: { prefix: `${prefix}_REVOCATION_LISTS_RETRIEVE`, category: `credential-${profile}` },
      query: PageQuery,
      response: [RevocationList] as const,
      errorStatuses: [400],
    }),
    retrieve: defineOperation({
      name: `issuance.retrieve-revocation-list.${profile}` as const,
      since: 'v2.1.0',
      summary: `Retrieve a revocation list of ${profile} credentials`,
      description:
        'The address is in claim −65537 of credentials. The list is a CWT that is signed by the key of the credentials; claim −65538 is the bitstring, compressed by GZIP, whose left-most bit has index 0. A changed status is in the list within seconds. With `If-None-Match` an unchanged list is a 304.',
      http: {
        method: 'GET',
        path: `${path}/:id`,
        success: 200,
        body: 'raw',
        maxBodyBytes: UNREAD_BODY_BYTES,
        // Shorter than it takes until a change is published.
        document: true,
        cacheControl: 'public, max-age=1',
        mediaType: 'application/cwt',
        afterDeletion: true,
      },
      access: publicAccess,
      params: StatusListParams,
      errorStatuses: [400, 404, 503],
    }),
  };
};

export type RevocationListOperations = ReturnType<typeof revocationListOperations>;
