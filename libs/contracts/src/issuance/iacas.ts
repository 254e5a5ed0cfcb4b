import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { defineOperation, publicAccess, requires, UNREAD_BODY_BYTES } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { BoundedText, combine, Optional, Rule, Uuid } from '../validators.js';

const MAX_PEM = 16_384;
/** Characters; a CRL with about 600 entries. Decoding it must not block the main thread for long (ADR 0041). */
const MAX_CRL_PEM = 32_768;
/** RFC 3339 in UTC. Certificates have seconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const TIME_FAULT = 'must be a time in UTC such as 2026-01-31T10:00:00Z';

const Time = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    MaxLength(40, { message: TIME_FAULT }),
    Rule('time', (value) => (typeof value !== 'string' || isTime(value) ? undefined : TIME_FAULT)),
  );
const isTime = (value: string): boolean =>
  // A day that a month does not have becomes one of the next month.
  TIME.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value));
const isDay = (day: string): boolean => {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
};

/** A certificate in PEM. */
export const CertificatePem = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    MaxLength(MAX_PEM, { message: `must have at most ${MAX_PEM} characters` }),
  );

const COMMON_NAME = /^[A-Za-z0-9 '()+,\-./:=?]{1,64}$/;
const COMMON_NAME_FAULT = "must have 1 to 64 characters: letters, digits, spaces and '()+,-./:=?";

/** All members are optional. With `certificatePem` the IACA is unmanaged: its owner keeps the key, and no other member is allowed. */
export class IacaRequest {
  /** Default: the verified custom domain, or else the host of the tenant, and ` IACA`, cut to 64 characters. */
  @Optional()
  @IsString({ message: 'must be a string' })
  @Matches(COMMON_NAME, { message: COMMON_NAME_FAULT })
  @MaxLength(64, { message: COMMON_NAME_FAULT })
  commonName?: string;

  /** Upper-case code of ISO 3166-1 alpha-2. Default: the country of the tenant's region. */
  @Optional()
  @IsString({ message: 'must be a string' })
  @Matches(/^[A-Z]{2}$/, { message: 'must be two upper-case letters (ISO 3166-1)' })
  @MaxLength(2, { message: 'must be two upper-case letters (ISO 3166-1)' })
  country?: string;

  /** Upper-case code of ISO 3166-2, of the same country. */
  @Optional()
  @IsString({ message: 'must be a string' })
  @Matches(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, { message: 'must be an upper-case code of ISO 3166-2 such as AU-NSW' })
  @MaxLength(6, { message: 'must be an upper-case code of ISO 3166-2 such as AU-NSW' })
  stateOrProvinceName?: string;

  /** Begin of the validity, not in the past. Default: the beginning of the current hour. */
  @Optional() @Time() notBefore?: string;

  /** End of the validity, at most 20 years after `notBefore`. Default: 10 years after it. */
  @Optional() @Time() notAfter?: string;

  /** Root certificate of an IACA whose key its owner keeps (ISO/IEC 18013-5 Annex B.1.2), PEM. */
  @Optional() @CertificatePem() certificatePem?: string;
}

/** Fields of a certificate. */
export class CertificateData {
  commonName: string;
  country: string;
  stateOrProvinceName?: string;
  /** RFC 3339. */
  notBefore: string;
  /** RFC 3339. */
  notAfter: string;
}

/** A published CRL. */
export class PublishedCrl {
  /** CRL number, decimal. */
  number: string;
  /** RFC 3339. */
  thisUpdate: string;
  /** RFC 3339. */
  nextUpdate: string;
}

export class Iaca {
  id: string;
  /** Whether its document signers sign, and whether it is listed at `mdoc_iacas_uri`. */
  active: boolean;
  certificatePem: string;
  certificateData: CertificateData;
  /** SHA-256 of the certificate's DER, hex. */
  certificateFingerprint: string;
  /** Whether the platform keeps its key. */
  isManaged: boolean;
  /** The CRL at `/v2/credentials/mobile/iacas/{id}/crl`. Absent until the first one of an unmanaged IACA was uploaded. */
  crl?: PublishedCrl;
  /** Whether its owner must upload a CRL: a revoked document signer is not in it, or it has ended. Always false for a managed IACA. */
  crlDue: boolean;
}

export class IacaParams {
  /** Id of the IACA. */
  @Uuid() id: string;
}

export class UpdateIacaRequest {
  /** Several IACAs can be active: the newest one that is valid and can sign is used. */
  @IsBoolean({ message: 'must be a boolean' }) active: boolean;
}

const category = 'mobile-credential-iaca';
const path = '/v2/credentials/mobile/iacas';
const since = 'v2.1.0';
const object = { type: 'iaca', from: 'params.id' } as const;

export const createIaca = defineOperation({
  name: 'issuance.create-iaca',
  since,
  summary: 'Create an issuing authority certificate authority (IACA)',
  description:
    'It is inactive, so that relying parties can get its certificate before it is used. Returns 409 if the tenant already has 3.',
  http: { method: 'POST', path, success: 201, maxBodyBytes: 65_536 },
  access: requires('iacas:create'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_CREATE', category, object: { type: 'iaca', from: 'event.iacaId' } },
  body: IacaRequest,
  example: { commonName: 'Example IACA', country: 'AU', stateOrProvinceName: 'AU-NSW' },
  resource: Iaca,
  response: Iaca,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listIacas = defineOperation({
  name: 'issuance.list-iacas',
  since,
  summary: 'Retrieve the IACAs of the tenant',
  http: { method: 'GET', path, success: 200 },
  access: requires('iacas:read'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [Iaca],
  errorStatuses: [400],
});

export const retrieveIaca = defineOperation({
  name: 'issuance.retrieve-iaca',
  since,
  summary: 'Retrieve an IACA',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('iacas:read'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_RETRIEVE', category, object },
  params: IacaParams,
  response: Iaca,
  errorStatuses: [400, 404],
});

export const updateIaca = defineOperation({
  name: 'issuance.update-iaca',
  since,
  summary: 'Activate or deactivate an IACA',
  http: { method: 'PUT', path: `${path}/:id`, success: 200 },
  access: requires('iacas:update'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_UPDATE', category, object },
  params: IacaParams,
  body: UpdateIacaRequest,
  example: { active: true },
  response: Iaca,
  errorStatuses: [400, 404],
});

export const deleteIaca = defineOperation({
  name: 'issuance.delete-iaca',
  since,
  summary: 'Delete an IACA with its document signers',
  description: 'Their keys are destroyed, and its CRL is no longer served.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('iacas:delete'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_DELETE', category, object },
  params: IacaParams,
  errorStatuses: [400, 404],
});

export class CrlRequest {
  /** Complete CRL that the IACA signed, PEM; its number is from 0 to 2^159 - 1, and larger than that of the one before. */
  @BoundedText(MAX_CRL_PEM, 1) crlPem: string;
}

export const updateIacaCrl = defineOperation({
  name: 'issuance.update-iaca-crl',
  since,
  summary: 'Upload the CRL of an unmanaged IACA',
  description: 'The CRL of a managed IACA is signed and renewed by the platform.',
  http: { method: 'PUT', path: `${path}/:id/crl`, success: 200, maxBodyBytes: 2 * MAX_CRL_PEM },
  access: requires('iacas:update'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_IACA_CRL_UPDATE', category, object },
  params: IacaParams,
  body: CrlRequest,
  example: { crlPem: '-----BEGIN X509 CRL-----\nMIIB…\n-----END X509 CRL-----' },
  response: Iaca,
  errorStatuses: [400, 404],
});

export const retrieveIacaCrl = defineOperation({
  name: 'issuance.retrieve-iaca-crl',
  since,
  summary: 'Retrieve the CRL of an IACA (ISO/IEC 18013-5 Annex B.1.5)',
  description: 'DER. 404 until the first CRL of an unmanaged IACA was uploaded. `If-None-Match` is supported.',
  http: {
    method: 'GET',
    path: `${path}/:id/crl`,
    afterDeletion: true,
    success: 200,
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    mediaType: 'application/pkix-crl',
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  params: IacaParams,
  errorStatuses: [400, 404],
});

export class ListedIaca {
  /** DER, base64. */
  certificate: string;
}
export class IacaList {
  iacas: ListedIaca[];
}

export const retrieveIacas = defineOperation({
  name: 'issuance.retrieve-iacas',
  operationId: 'retrieveIacaCertificates',
  since,
  summary: 'Retrieve the certificates of the active IACAs',
  description: 'Trust anchors of `mso_mdoc` credentials; `mdoc_iacas_uri` of the issuer metadata. May be empty.',
  http: {
    method: 'GET',
    path: '/v1/openid/iacas',
    success: 200,
    document: true,
    cacheControl: 'public, max-age=300',
    afterDeletion: true,
  },
  access: publicAccess,
  response: IacaList,
});
