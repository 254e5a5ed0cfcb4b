import { defineOperation, publicAccess, UNREAD_BODY_BYTES } from '../operation.js';
import { Uuid } from '../validators.js';

export class StatusListAggregation {
  /** Addresses of status list tokens, at most 1000. */
  status_lists: string[];
}

export class StatusListParams {
  /** Id of the status list. */
  @Uuid() id: string;
}

export const retrieveStatusListToken = defineOperation({
  name: 'issuance.retrieve-status-list-token',
  since: 'v2.1.0',
  summary: 'Retrieve a status list token (Token Status List section 8.1)',
  description:
    'The address is `status.status_list.uri` of credentials. The token is a JWT with the media type `application/statuslist+jwt`, or a CWT with `application/statuslist+cwt` where the credentials are CBOR; `Accept` without it is refused. A changed status is in the token within seconds. A verifier may use a token for its `ttl`. With `If-None-Match` an unchanged token is a 304.',
  http: {
    method: 'GET',
    path: '/v2/credentials/status-lists/:id/token',
    afterDeletion: true,
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    // Shorter than it takes until a change is published.
    cacheControl: 'public, max-age=1',
    mediaType: 'application/statuslist+jwt',
    otherMediaTypes: ['application/statuslist+cwt'],
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
    cacheControl: 'public, max-age=60',
  },
  access: publicAccess,
  response: StatusListAggregation,
});
