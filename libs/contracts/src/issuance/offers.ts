import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { CORE_AUTHORIZE_PARAMETERS } from '../tenant-config/authentication-providers.js';
import { IsRecord, BoundedJson, Nested, Optional, Rule, Uuid } from '../validators.js';
import { CLAIM_BOUNDS } from './claim-bounds.js';

export class TransactionCodeConfiguration {
  /** Default `numeric`. OID4VCI §4.1.1 */
  @Optional() @IsIn(['numeric', 'text'], { message: 'must be one of: numeric, text' }) inputMode?: 'numeric' | 'text';
  @Optional()
  @IsString({ message: 'must be a string' })
  @MaxLength(300, { message: 'must have at most 300 characters' })
  description?: string;
}

/** Default 5 minutes, at most 10; more than 0 in sum. */
export class OfferLifetime {
  @Optional()
  @IsInt({ message: 'must be a Duration' })
  @Min(0)
  @Max(10, { message: 'must be at most 10 minutes' })
  minutes?: number;
  @Optional()
  @IsInt({ message: 'must be a Duration' })
  @Min(0)
  @Max(600, { message: 'must be at most 10 minutes' })
  seconds?: number;
}

/** Parameters a wallet may add to its authorization request, of texts. */
const requestParameters = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > 20) return 'must have at most 20 entries';
  if (entries.some(([name]) => (CORE_AUTHORIZE_PARAMETERS as readonly string[]).includes(name)))
    return `must not set ${CORE_AUTHORIZE_PARAMETERS.join(', ')}`;
  const isText = (text: unknown) => typeof text === 'string' && text.length <= 1000 && text.isWellFormed();
  return entries.every(([name, text]) => name.length <= 255 && name.isWellFormed() && isText(text))
    ? undefined
    : 'must be texts of at most 1000 characters';
};

export class OfferRequest {
  /** Ids of credential configurations of this tenant, unique. */
  @IsArray({ message: 'must be an array' })
  @ArrayNotEmpty({ message: 'must not be empty' })
  @ArrayMaxSize(20, { message: 'must have at most 20 entries' })
  @BoundedJson()
  credentials: unknown[];

  /** Parameters for the wallet's authorization request, such as `login_hint` and `prompt`. */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: 20 })
  @Rule('requestParameters', requestParameters)
  request_parameters?: Record<string, string>;
}

export class Offer {
  /** `openid-credential-offer://?credential_offer=…` */
  uri: string;
}

export class PreAuthorizedOfferRequest {
  /** Ids of credential configurations of this tenant, unique. */
  @IsArray({ message: 'must be an array' })
  @ArrayNotEmpty({ message: 'must not be empty' })
  @ArrayMaxSize(20, { message: 'must have at most 20 entries' })
  @BoundedJson()
  credentials: unknown[];

  /** An existing user; absent: a new one is created. */
  @Optional() @Uuid() userId?: string;

  @Optional()
  @Nested(TransactionCodeConfiguration)
  transactionCodeConfiguration?: TransactionCodeConfiguration;

  /** Claims for this offer; merged over the user's own. */
  @Optional() @IsRecord() @BoundedJson(CLAIM_BOUNDS) claims?: Record<string, unknown>;

  /** Names of `claims` to keep on the user. */
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(200)
  @IsString({ each: true, message: 'must be strings' })
  @Length(1, 1024, { each: true })
  claimsToPersist?: string[];

  @Optional()
  @Nested(OfferLifetime, { message: 'must be a Duration' })
  expiresIn?: OfferLifetime;
}

export class PreAuthorizedOffer {
  /** uuid; `offerId` of the credentials issued from it. */
  id: string;
  userId: string;
  /** `openid-credential-offer://?credential_offer=…` */
  uri: string;
  /** `openid-credential-offer://?credential_offer_uri=…` */
  uriByReference: string;
  /** End of life of the code. */
  expiresAt: string;
  /** Only when configured: 6 digits or characters, shown once. */
  transactionCode?: string;
}

export class OfferParams {
  @Uuid() id: string;
}

export class OfferReferenceParams {
  /** `<offer id>.<secret>` */
  @IsString() @Length(1, 200) reference: string;
}

/** At most 500 KB (512,000 bytes), claims included. */
export const MAX_OFFER_BYTES = 512_000;

const errors = 'tenant' as const;
const category = 'openid';

/** Nothing is stored: any number of people use it, each of them authenticated by themselves, for as long as the configurations are there. */
export const createOffer = defineOperation({
  name: 'issuance.create-offer',
  summary: 'Create a credential offer for the authorization code flow',
  http: { method: 'POST', path: '/v1/openid/offers', success: 200 },
  access: requires('offers:create'),
  kind: 'query',
  analytics: { prefix: 'OPENID_OFFER_CREATE', category },
  errors,
  body: OfferRequest,
  response: Offer,
  errorStatuses: [400, 401, 403],
});

export const createPreAuthorizedOffer = defineOperation({
  name: 'issuance.create-pre-authorized-offer',
  summary: 'Create a pre-authorized credential offer',
  http: { method: 'POST', path: '/v1/openid/offers/pre-authorized', success: 200 },
  access: requires('offers:create'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_CREATE', category },
  errors,
  body: PreAuthorizedOfferRequest,
  response: PreAuthorizedOffer,
  secrets: ['claims'],
  errorStatuses: [400, 401, 403, 413],
  idempotent: true,
});

export const deletePreAuthorizedOffer = defineOperation({
  name: 'issuance.delete-pre-authorized-offer',
  summary: 'Delete an unclaimed offer; its code and tokens end',
  http: { method: 'DELETE', path: '/v1/openid/offers/pre-authorized/:id', success: 204 },
  access: requires('offers:delete'),
  analytics: { prefix: 'OPENID_PRE_AUTHORIZED_OFFER_DELETE', category },
  errors,
  params: OfferParams,
  errorStatuses: [400, 401, 403, 404],
});

/** OID4VCI §4.1.3; 404 after deletion, redemption, lock or expiry. */
export const retrieveOfferContent = defineOperation({
  name: 'issuance.retrieve-offer-content',
  summary: 'The offer behind a credential_offer_uri',
  http: { method: 'GET', path: '/v1/openid/offers/:reference/content', success: 200 },
  access: publicAccess,
  errors,
  params: OfferReferenceParams,
  errorStatuses: [404],
});
