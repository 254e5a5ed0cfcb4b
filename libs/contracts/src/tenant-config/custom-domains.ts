import { IsString, MaxLength } from 'class-validator';
import { calledBy, defineOperation, publicAccess, requires } from '../operation.js';
import { Name } from '../validators.js';

/** All three are required. Rules on `logoUrl` and `domain` are decided in the service. */
export class CustomDomainRequest {
  /** Of the brand, shown in wallets. */
  @Name() name: string;

  /** https; a square PNG or JPEG is advised, 64 by 64 pixels and at most 15 KB. Never fetched by the platform. */
  @IsString({ message: 'must be a string' })
  @MaxLength(2048, { message: 'must have at most 2048 characters' })
  logoUrl: string;

  /** Host without scheme and port. */
  @IsString({ message: 'must be a string' })
  @MaxLength(253, { message: 'must have at most 253 characters' })
  domain: string;
}

export class CustomDomain {
  name: string;
  logoUrl: string;
  domain: string;
  /** uuid; the whole value of a TXT record at the domain. */
  verificationToken: string;
  isVerified: boolean;
  /** RFC 3339; only once verified. */
  verifiedAt?: string;
}

/** What wallets and browsers show of the brand (W3C Web Application Manifest). */
export class BrandManifest {
  name: string;
  short_name: string;
  icons: { src: string }[];
}

const errors = 'tenant' as const;
const category = 'config';
const path = '/v1/config/domain';

export const createCustomDomain = defineOperation({
  name: 'tenant-config.create-custom-domain',
  summary: "Configure the tenant's custom domain, not yet verified",
  http: { method: 'POST', path, success: 201, body: 'json-or-xml' },
  access: requires('custom-domain:create'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_CREATE', category },
  errors,
  body: CustomDomainRequest,
  response: CustomDomain,
  errorStatuses: [400, 401, 403],
  idempotent: true,
});

export const retrieveCustomDomain = defineOperation({
  name: 'tenant-config.retrieve-custom-domain',
  summary: 'Retrieve the custom domain with its verification status',
  http: { method: 'GET', path, success: 200 },
  access: requires('custom-domain:read'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_RETRIEVE', category },
  errors,
  response: CustomDomain,
  errorStatuses: [401, 403, 404],
});

export const updateCustomDomain = defineOperation({
  name: 'tenant-config.update-custom-domain',
  summary: 'Replace the custom domain; another domain must be verified anew',
  http: { method: 'PUT', path, success: 200 },
  access: requires('custom-domain:update'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_UPDATE', category },
  errors,
  body: CustomDomainRequest,
  response: CustomDomain,
  errorStatuses: [400, 401, 403, 404],
});

export const deleteCustomDomain = defineOperation({
  name: 'tenant-config.delete-custom-domain',
  summary: 'Remove the custom domain; its public documents are gone and its DIDs issue no more',
  http: { method: 'DELETE', path, success: 204 },
  access: requires('custom-domain:delete'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_DELETE', category },
  errors,
  errorStatuses: [401, 403, 404],
});

/** 400 `Verification failed` while the record is missing or wrong; may be repeated at any time. */
export const verifyCustomDomain = defineOperation({
  name: 'tenant-config.verify-custom-domain',
  summary: 'Verify the custom domain by its TXT record',
  http: { method: 'POST', path: `${path}/verify`, success: 204, body: 'none' },
  access: requires('custom-domain:verify'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_VERIFY', category },
  errors,
  errorStatuses: [400, 401, 403, 404],
});

export const retrieveManifest = defineOperation({
  name: 'tenant-config.retrieve-manifest',
  summary: 'Web manifest of the brand behind the verified custom domain',
  http: {
    method: 'GET',
    path: '/manifest.json',
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  errors,
  response: BrandManifest,
  errorStatuses: [404],
});

/** What the gateway's directory asks for a host that is no tenant's own (ADR 0056). */
export class LookUpCustomDomainRequest {
  /** Canonical host. */
  @IsString() @MaxLength(300) host: string;
}

export class CustomDomainOwner {
  /** Absent when nobody has verified this domain. */
  tenantId?: string;
}

export const lookUpCustomDomain = defineOperation({
  name: 'tenant-config.look-up-custom-domain',
  summary: 'Tell which tenant has verified a domain',
  access: calledBy('gateway'),
  kind: 'query',
  errors,
  body: LookUpCustomDomainRequest,
  response: CustomDomainOwner,
});
