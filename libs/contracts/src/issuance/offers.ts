import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { CORE_AUTHORIZE_PARAMETERS } from '../tenant-config/authentication-providers.js';
import {
  AdviceOnUnknown,
  combine,
  IsRecord,
  BoundedJson,
  BoundedText,
  Nested,
  Optional,
  Rule,
  Time,
  Uuid,
} from '../validators.js';
import { CLAIM_BOUNDS } from './claim-bounds.js';
import type { Warning } from './credential-configurations.js';
import type { CredentialFormat } from './formats.js';

export class TransactionCodeConfiguration {
  /** Characters of the code: digits, or letters and digits (OID4VCI 1.0 section 4.1.1). Default `numeric`. */
  @Optional() @IsIn(['numeric', 'text'], { message: 'must be one of: numeric, text' }) inputMode?: 'numeric' | 'text';
  /** Text that the wallet shows when it asks the holder for the code. */
  @Optional() @BoundedText(300) description?: string;
}

const LIFETIME = 'An offer lasts at most 10 minutes.';

const LifetimePart = (max: number): PropertyDecorator =>
  combine(
    Optional(),
    IsInt({ message: 'must be an integer' }),
    Min(0, { message: 'must not be negative' }),
    Max(max, { message: 'must be at most 10 minutes' }),
  );

/**
 * Lifetime of an offer: more than 0 and at most 10 minutes in total.
 * @minProperties 1
 */
@AdviceOnUnknown(LIFETIME)
export class OfferLifetime {
  @LifetimePart(10) minutes?: number;
  @LifetimePart(600) seconds?: number;
}

/** `issuer_state` is that of the offer. */
const NOT_SET: readonly string[] = [...CORE_AUTHORIZE_PARAMETERS, 'issuer_state'];

/** Fault of parameters that a wallet adds to its authorization request. */
const requestParameters = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > 20) return 'must have at most 20 entries';
  if (entries.some(([name]) => NOT_SET.includes(name)))
    return `must not set ${NOT_SET.join(', ')}, which are parameters of every authorization request`;
  const isText = (text: unknown) => typeof text === 'string' && text.length <= 1000 && text.isWellFormed();
  if (!entries.every(([name]) => name.length <= 255 && name.isWellFormed()))
    return 'must have names of at most 255 characters';
  const wrong = entries.find(([, text]) => !isText(text));
  return wrong && `must have string values of at most 1000 characters, unlike ${wrong[0]}`;
};

/** Longest identifier of a claim set. */
export const MAX_CREDENTIAL_IDENTIFIER = 128;
/** Claim sets of one offer. */
export const MAX_CLAIM_SETS = 100;

// The rules of claim sets and of what is offered are declared here, and checked by issuance.

/** Claims of one credential. */
export class ClaimSet {
  /**
   * Credential identifier by which the wallet requests the credential: 1 to 128 characters without control characters, unique in the offer.
   * Default: a generated UUID. It is stored unencrypted and is not erased with the user, so it must not contain personal data.
   */
  @Optional() @Length(1, MAX_CREDENTIAL_IDENTIFIER) identifier?: string;
  /** They take precedence over the claims of the offer and the user's own claims with the same name. */
  @BoundedJson(CLAIM_BOUNDS) claims: Record<string, unknown>;
}

/** A credential configuration with the claims of each credential that is offered of it. */
export class OfferedCredential {
  /** Id of the credential configuration. */
  @Uuid() credentialConfigurationId: string;
  /** One for each credential, at least one; an offer has at most 100. */
  @ArrayNotEmpty() @ArrayMaxSize(MAX_CLAIM_SETS) claimSets: ClaimSet[];
}

/**
 * Id of a credential configuration.
 * @format uuid
 * @maxLength 36
 */
export type CredentialConfigurationId = string;
/** Entry of an offer: a credential configuration, or one with the claims of each of its credentials. */
export type CredentialToOffer = CredentialConfigurationId | OfferedCredential;

/** Entries of an offer; issuance checks their members. */
const OfferedCredentials = (): PropertyDecorator =>
  combine(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayMaxSize(20, { message: 'must have at most 20 entries' }),
    BoundedJson(CLAIM_BOUNDS),
  );

export class OfferRequest {
  /**
   * Credential configurations to offer, each at most once: an id, or an object with an id and claim sets. If one entry has claim sets, the
   * wallet requests all credentials of the offer by credential identifiers.
   */
  @OfferedCredentials() credentials: CredentialToOffer[];

  /**
   * Parameters that the wallet adds to its authorization request, for example `login_hint` and `prompt`. The values are strings of at
   * most 1000 characters.
   */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: 20 })
  @Rule('requestParameters', requestParameters)
  request_parameters?: Record<string, string>;

  /** Id of the only user who can use the offer, who must have signed in with the authentication provider before. Default: any user. */
  @Optional() @Uuid() userId?: string;

  /** Expiry of a stored offer, at most 365 days from now. Default for an offer with claim sets or `userId`: 30 days from now. */
  @Optional() @Time() expiresAt?: string;
}

export class Offer {
  /** Credential offer URI: `openid-credential-offer://?credential_offer=…`. */
  uri: string;
  /** Credential offer by reference: `openid-credential-offer://?credential_offer_uri=…`. Absent where `qrUrl` is. */
  uriByReference?: string;
  /**
   * Address of the QR code of `uriByReference`, as SVG or PNG. It can be retrieved without access token until the offer is deleted or expires,
   * or a configuration of it is deleted. Absent for long `request_parameters`, if the address would have more than 2,000 characters.
   */
  qrUrl?: string;
  /** UUID of a stored offer. */
  id?: string;
  /** Expiry of a stored offer. */
  expiresAt?: string;
  /** Claims of claim sets that no mapping of the configuration names, at most 11. Absent without any. */
  warnings?: Warning[];
}

export class PreAuthorizedOfferRequest {
  /**
   * Credential configurations to offer, each at most once: an id, or an object with an id and claim sets. If one entry has claim sets, the
   * wallet requests all credentials of the offer by credential identifiers.
   */
  @OfferedCredentials() credentials: CredentialToOffer[];

  /**
   * Id of an existing user. Default: a new user is created. If no claims are stored with the user, the user ends with an offer that expires
   * unclaimed.
   */
  @Optional() @Uuid() userId?: string;

  /** Protects the offer with a transaction code. Default: no code. */
  @Optional()
  @Nested(TransactionCodeConfiguration)
  transactionCodeConfiguration?: TransactionCodeConfiguration;

  /** Claims of this offer. They take precedence over the user's own claims with the same name. */
  @Optional() @IsRecord() @BoundedJson(CLAIM_BOUNDS) claims?: Record<string, unknown>;

  /** Names of those `claims` that are also stored with the user. */
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(200, { message: 'must have at most 200 entries' })
  @IsString({ each: true, message: 'must contain only strings' })
  @Length(1, 1024, { each: true, message: 'must contain only strings of 1 to 1024 characters' })
  claimsToPersist?: string[];

  /** Default 5 minutes. */
  @Optional()
  @Nested(OfferLifetime, { message: `must be an object with minutes or seconds. ${LIFETIME}` })
  expiresIn?: OfferLifetime;
}

export class PreAuthorizedOffer {
  /** UUID of the offer, also `offerId` of the credentials issued from it. */
  id: string;
  userId: string;
  /** Credential offer by value: `openid-credential-offer://?credential_offer=…`. */
  uri: string;
  /** Credential offer by reference: `openid-credential-offer://?credential_offer_uri=…`. */
  uriByReference: string;
  /**
   * Address of the QR code of `uriByReference`, as SVG or PNG. It can be retrieved without access token until the offer is redeemed, deleted
   * or locked, or expires.
   */
  qrUrl: string;
  /** Expiry of the offer and its pre-authorized code. */
  expiresAt: string;
  /** Transaction code of 6 characters, if configured. Returned once; it cannot be retrieved later. */
  transactionCode?: string;
  /** Claims that no mapping of the configurations and no entry of `claimsToPersist` names, at most 11. Absent without any. */
  warnings?: Warning[];
}

/** A pre-authorized offer without its codes and claims. */
export class PreAuthorizedOfferStatus {
  id: string;
  /**
   * `CREATED`: not redeemed. `REDEEMED`: the pre-authorized code was exchanged for an access token. `CLAIMED`: at least one credential was
   * issued. `EXPIRED`: expired before a credential was issued. `LOCKED`: three wrong transaction codes. `DELETED`: deleted before a credential was
   * issued.
   */
  state: 'CREATED' | 'REDEEMED' | 'CLAIMED' | 'EXPIRED' | 'LOCKED' | 'DELETED';
  /** Ids of the offered credential configurations. */
  credentials: string[];
  userId: string;
  createdAt: string;
  /** Expiry of the pre-authorized code. */
  expiresAt: string;
  /** Credentials issued from the offer, oldest first; the first 500, in a list the first 10. */
  issuedCredentials: IssuedCredential[];
}

/** Metadata of a credential that was issued from an offer. */
export class IssuedCredential {
  id: string;
  credentialConfigurationId: string;
  type: string;
  format: CredentialFormat;
  issuedDate: string;
  validUntil?: string;
}

export class OfferParams {
  /** Id of the offer. */
  @Uuid() id: string;
}

/** Longest reference to an offer in an address; that of a QR code fits into one (ISO/IEC 18004: 2,953 bytes). */
export const MAX_OFFER_REFERENCE = 2000;

export class OfferReferenceParams {
  /** Part of the address by which the offer is retrieved: its id and a secret, or the encrypted offer. */
  @BoundedText(MAX_OFFER_REFERENCE, 1) reference: string;
}

/** Claim sets of an offer for the authorization code flow, as JSON, as those of a user: each session gets a copy. */
export const MAX_CLAIM_SETS_BYTES = 384 * 1024;
/** Maximum size of an offer request, claims included: 500 KB (512,000 bytes). */
export const MAX_OFFER_BYTES = 512_000;

const category = 'openid';

export const createOffer = defineOperation({
  name: 'issuance.create-offer',
  summary: 'Create a credential offer for the authorization code flow',
  description:
    'Any number of holders can use it as long as its configurations exist; each of them signs in with the authentication provider. An offer with claim sets, `userId` or `expiresAt` is stored: it has an id and an expiry, and can be deleted. The URI names it by `issuer_state`, without its claims. No other offer is stored.',
  http: { method: 'POST', path: '/v1/openid/offers', success: 200 },
  access: requires('offers:create'),
  analytics: { prefix: 'OPENID_OFFER_CREATE', category, object: { type: 'offer', from: 'stream' } },
  body: OfferRequest,
  example: { credentials: ['7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61'] },
  response: Offer,
  secrets: ['claims', 'credentials'],
  errorStatuses: [400],
  idempotent: true,
});

export const deleteOffer = defineOperation({
  name: 'issuance.delete-offer',
  since: 'v2.1.0',
  summary: 'Delete a stored offer for the authorization code flow',
  description:
    'Authorization requests that name it are refused from then on, and its claims are destroyed. Sessions that were authorized before keep theirs. Returns 404 if the offer is not stored, deleted or expired.',
  http: { method: 'DELETE', path: '/v1/openid/offers/:id', success: 204 },
  access: requires('offers:delete'),
  analytics: { prefix: 'OPENID_OFFER_DELETE', category, object: { type: 'offer', from: 'params.id' } },
  params: OfferParams,
  errorStatuses: [400, 404],
});

export const createPreAuthorizedOffer = defineOperation({
  name: 'issuance.create-pre-authorized-offer',
  summary: 'Create a pre-authorized credential offer',
  http: { method: 'POST', path: '/v1/openid/offers/pre-authorized', success: 200 },
  access: requires('offers:create'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_CREATE', category, object: { type: 'offer', from: 'stream' } },
  body: PreAuthorizedOfferRequest,
  example: {
    credentials: ['7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61'],
    claims: { given_name: 'Ada' },
    expiresIn: { minutes: 10 },
  },
  response: PreAuthorizedOffer,
  secrets: ['claims', 'credentials'],
  errorStatuses: [400, 413],
  idempotent: true,
});

export const listPreAuthorizedOffers = defineOperation({
  name: 'issuance.list-pre-authorized-offers',
  since: 'v2.1.0',
  summary: 'Retrieve the pre-authorized offers of the tenant, their states and what was issued from them',
  description: 'Codes and claims of the offers cannot be retrieved. Offers for users who were deleted are left out.',
  http: { method: 'GET', path: '/v1/openid/offers/pre-authorized', success: 200 },
  access: requires('offers:read'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [PreAuthorizedOfferStatus],
  errorStatuses: [400, 401, 403],
});

export const retrievePreAuthorizedOffer = defineOperation({
  name: 'issuance.retrieve-pre-authorized-offer',
  since: 'v2.1.0',
  summary: 'Retrieve the state of a pre-authorized offer and what was issued from it',
  description: 'Codes and claims of the offer cannot be retrieved. Returns 404 if the user of the offer is deleted.',
  http: { method: 'GET', path: '/v1/openid/offers/pre-authorized/:id', success: 200 },
  access: requires('offers:read'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_RETRIEVE', category, object: { type: 'offer', from: 'params.id' } },
  params: OfferParams,
  response: PreAuthorizedOfferStatus,
  errorStatuses: [400, 401, 403, 404],
});

export const deletePreAuthorizedOffer = defineOperation({
  name: 'issuance.delete-pre-authorized-offer',
  summary: 'Delete a pre-authorized offer from which no credential was issued',
  description: 'Its pre-authorized code and access tokens become invalid.',
  http: { method: 'DELETE', path: '/v1/openid/offers/pre-authorized/:id', success: 204 },
  access: requires('offers:delete'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_DELETE', category, object: { type: 'offer', from: 'params.id' } },
  params: OfferParams,
  errorStatuses: [400, 404],
});

export const retrieveOfferContent = defineOperation({
  name: 'issuance.retrieve-offer-content',
  summary: 'Retrieve a credential offer by reference (OID4VCI section 4.1.3)',
  description:
    'Returns 404 if the offer is deleted, redeemed, locked or expired, and for an offer of the authorization code flow if one of its configurations is deleted.',
  http: { method: 'GET', path: '/v1/openid/offers/:reference/content', success: 200 },
  access: publicAccess,
  params: OfferReferenceParams,
  errorStatuses: [404],
});

export const retrieveOfferQrCode = defineOperation({
  name: 'issuance.retrieve-offer-qr-code',
  since: 'v2.1.0',
  summary: 'Retrieve the QR code of a credential offer',
  description:
    'The code contains the offer by reference. An SVG or PNG image by `Accept`, SVG by default. Returns 404 as the offer by reference does, and 406 if `Accept` allows neither.',
  http: {
    method: 'GET',
    path: '/v1/openid/offers/:reference/qr',
    success: 200,
    body: 'raw',
    mediaType: 'image/svg+xml',
    otherMediaTypes: ['image/png'],
  },
  access: publicAccess,
  params: OfferReferenceParams,
  errorStatuses: [404, 406, 503],
});
