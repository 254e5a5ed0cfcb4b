import { defineOperation, publicAccess, requires, UNREAD_BODY_BYTES } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Uuid } from '../validators.js';
import { CredentialType, Duration, IsDuration } from './credential-configurations.js';
import { StatusListParams, StatusListTokenQuery } from './status-lists.js';

export class UpdateStatusListConfigurationRequest {
  /** For how long a verifier may use a token: 1 minute to 30 days. A token is replaced at half of it, when a status or the signer changes, and before its signer ends. */
  @IsDuration() timeToLiveDuration: Duration;
  /** For how long a token is valid that could not be replaced: at least `timeToLiveDuration`, at most 30 days. */
  @IsDuration() expiryDuration: Duration;
}

export class StatusListConfigurationRequest extends UpdateStatusListConfigurationRequest {
  /** Document type: `type` of a configuration of mobile documents. Unique among the tenant's configurations of status lists. */
  @CredentialType() docType: string;
}

export class StatusListConfiguration {
  id: string;
  docType: string;
  timeToLiveDuration: Duration;
  expiryDuration: Duration;
}

export class StatusListConfigurationParams {
  /** Id of the configuration. */
  @Uuid() id: string;
}

/** A list of the statuses of mobile documents. */
export class MobileStatusList {
  id: string;
  /** IACA of the credentials and of the signer. */
  iacaId: string;
  /** Absent while the document type has no configuration: then a token has a time to live of 300 seconds and expires after an hour. */
  statusListConfigurationId?: string;
  /** Entries. */
  listSize: number;
  /** The token, a CWT, base64. Absent until the first one is signed, and after the last one has expired. */
  list?: string;
}

export class StatusListUri {
  uri: string;
}
export class DistributedStatusList {
  status_lists: StatusListUri;
}
export class StatusListDistribution {
  /** At most 1000. */
  data: DistributedStatusList[];
  /** Addresses of identifier lists, at most 1000. Absent without any. */
  identifier_lists?: StatusListUri[];
}

const since = 'v2.1.0';
const lists = '/v2/credentials/mobile/status-lists';
const path = `${lists}/configurations`;
const category = 'mobile-credential-status-list';
const type = 'status-list-configuration';
const object = { type, from: 'params.id' } as const;
const prefix = 'MOBILE_CREDENTIAL_STATUS_LIST';
const example = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };

export const createStatusListConfiguration = defineOperation({
  name: 'issuance.create-status-list-configuration',
  since,
  summary: 'Create the status list configuration of a document type',
  description:
    'Without one, tokens have a time to live of 300 seconds and expire after an hour. Returns 409 if the tenant already has 100.',
  http: { method: 'POST', path, success: 201, maxBodyBytes: 65_536 },
  access: requires('status-list-configurations:create'),
  analytics: { prefix: `${prefix}_CONFIGURATION_CREATE`, category, object: { type, from: 'event.id' } },
  body: StatusListConfigurationRequest,
  example: { docType: 'org.iso.18013.5.1.mDL', ...example },
  resource: StatusListConfiguration,
  response: StatusListConfiguration,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listStatusListConfigurations = defineOperation({
  name: 'issuance.list-status-list-configurations',
  since,
  summary: 'Retrieve the status list configurations of the tenant',
  http: { method: 'GET', path, success: 200 },
  access: requires('status-list-configurations:read'),
  analytics: { prefix: `${prefix}_CONFIGURATION_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [StatusListConfiguration],
  errorStatuses: [400],
});

export const retrieveStatusListConfiguration = defineOperation({
  name: 'issuance.retrieve-status-list-configuration',
  since,
  summary: 'Retrieve a status list configuration',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('status-list-configurations:read'),
  analytics: { prefix: `${prefix}_CONFIGURATION_RETRIEVE`, category, object },
  params: StatusListConfigurationParams,
  response: StatusListConfiguration,
  errorStatuses: [400, 404],
});

export const updateStatusListConfiguration = defineOperation({
  name: 'issuance.update-status-list-configuration',
  since,
  summary: 'Change the durations of a status list configuration',
  description: 'They apply to tokens that are signed after it.',
  http: { method: 'PUT', path: `${path}/:id`, success: 200, maxBodyBytes: 65_536 },
  access: requires('status-list-configurations:update'),
  analytics: { prefix: `${prefix}_CONFIGURATION_UPDATE`, category, object },
  params: StatusListConfigurationParams,
  body: UpdateStatusListConfigurationRequest,
  example,
  response: StatusListConfiguration,
  errorStatuses: [400, 404],
});

export const deleteStatusListConfiguration = defineOperation({
  name: 'issuance.delete-status-list-configuration',
  since,
  summary: 'Delete a status list configuration',
  description:
    'The lists remain; tokens that are signed after it have a time to live of 300 seconds and expire after an hour.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('status-list-configurations:delete'),
  analytics: { prefix: `${prefix}_CONFIGURATION_DELETE`, category, object },
  params: StatusListConfigurationParams,
  errorStatuses: [400, 404],
});

export const retrieveStatusListDistribution = defineOperation({
  name: 'issuance.retrieve-status-list-distribution',
  since,
  summary: 'Retrieve the addresses of the status lists of mobile documents',
  description:
    'For verifiers that retrieve lists in advance, identifier lists too. Without those of IACAs that have ended or were deleted.',
  http: {
    method: 'GET',
    path: `${lists}/distribution`,
    success: 200,
    document: true,
    cacheControl: 'public, max-age=60',
    afterDeletion: true,
  },
  access: publicAccess,
  response: StatusListDistribution,
});

export const listMobileStatusLists = defineOperation({
  name: 'issuance.list-mobile-status-lists',
  since,
  summary: 'Retrieve the status lists of mobile documents',
  description:
    'A list is made when the first credential with a status of an issuer, an IACA and a document type is issued, and when the one before is full. A page ends before its tokens have more than 512 KB.',
  http: { method: 'GET', path: lists, success: 200 },
  access: requires('credential-status:read'),
  analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [MobileStatusList],
  errorStatuses: [400],
});

export const retrieveMobileStatusList = defineOperation({
  name: 'issuance.retrieve-mobile-status-list',
  since,
  summary: 'Retrieve a status list of mobile documents',
  http: { method: 'GET', path: `${lists}/:id`, success: 200 },
  access: requires('credential-status:read'),
  analytics: { prefix: `${prefix}_RETRIEVE`, category, object: { type: 'status-list', from: 'params.id' } },
  params: StatusListParams,
  response: MobileStatusList,
  errorStatuses: [400, 404],
});

export const retrieveMobileStatusListToken = defineOperation({
  name: 'issuance.retrieve-status-list-token.mobile',
  operationId: 'retrieveMobileStatusListToken',
  since,
  summary: 'Retrieve the status list token of mobile documents (Token Status List section 8.1)',
  description:
    'The address is `status.status_list.uri` of the mobile security object. The token is a CWT: `application/statuslist+cwt`, or `application/cwt` where `Accept` names that. With `time` the current token is returned if it was valid then, otherwise 501: earlier ones are not kept. A changed status is in the token within seconds. 410 after the last token has expired, for example because the IACA has ended. With `If-None-Match` an unchanged token is a 304.',
  http: {
    method: 'GET',
    path: `${lists}/:id/token`,
    afterDeletion: true,
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    // Shorter than it takes until a change is published.
    document: true,
    cacheControl: 'public, max-age=1',
    mediaType: 'application/statuslist+cwt',
    otherMediaTypes: ['application/cwt'],
  },
  access: publicAccess,
  params: StatusListParams,
  query: StatusListTokenQuery,
  errorStatuses: [400, 404, 406, 410, 501, 503],
});

export const retrieveIdentifierListToken = defineOperation({
  name: 'issuance.retrieve-status-list-token.identifier-list',
  operationId: 'retrieveIdentifierListToken',
  since,
  summary: 'Retrieve the identifier list token of mobile documents (ISO/IEC 18013-5, second edition, section 12.3.6)',
  description:
    'The address is `status.identifier_list.uri` of the mobile security object, whose `status.identifier_list.id` is in the list while the document is suspended or revoked. The token is a CWT: `application/identifierlist+cwt`, or `application/cwt` where `Accept` names that. A changed status is in the token within seconds. 410 after the last token has expired, for example because the IACA has ended. With `If-None-Match` an unchanged token is a 304.',
  http: {
    method: 'GET',
    path: '/v2/credentials/mobile/identifier-lists/:id/token',
    afterDeletion: true,
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    // Shorter than it takes until a change is published.
    document: true,
    cacheControl: 'public, max-age=1',
    mediaType: 'application/identifierlist+cwt',
    otherMediaTypes: ['application/cwt'],
  },
  access: publicAccess,
  params: StatusListParams,
  errorStatuses: [400, 404, 406, 410, 503],
});
