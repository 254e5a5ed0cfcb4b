import { IsString, MaxLength } from 'class-validator';
import { calledBy, calledForTenant, defineOperation, publicAccess, requires } from '../operation.js';
import { BoundedText, Name } from '../validators.js';

export class CustomDomainRequest {
  /** Name of the brand, which wallets display. */
  @Name() name: string;

  /** https URL of the logo. Recommended: a square PNG or JPEG of 64 by 64 pixels and at most 15 KB. The platform does not fetch it. */
  @BoundedText(2048) logoUrl: string;

  /** Host name without scheme and port. */
  @BoundedText(253) domain: string;
}

export class CustomDomain {
  name: string;
  logoUrl: string;
  domain: string;
  /** UUID to publish as the whole value of a TXT record at the domain. */
  verificationToken: string;
  isVerified: boolean;
  /** RFC 3339 time of the verification. Absent until then. */
  verifiedAt?: string;
}

export class BrandIcon {
  src: string;
}

/** Brand that wallets and browsers display (W3C Web Application Manifest). */
export class BrandManifest {
  name: string;
  short_name: string;
  icons: BrandIcon[];
}

const category = 'config';
const path = '/v1/config/domain';

const EXAMPLE: CustomDomainRequest = {
  name: 'Example University',
  logoUrl: 'https://university.example/logo.png',
  domain: 'credentials.university.example',
};

export const createCustomDomain = defineOperation({
  name: 'tenant-config.create-custom-domain',
  summary: 'Configure the custom domain of the tenant',
  description: 'The domain is used once it is verified by a TXT record with `verificationToken`.',
  http: { method: 'POST', path, success: 201, body: 'json-or-xml' },
  access: requires('custom-domain:create'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_CREATE', category, object: { type: 'custom-domain', from: 'tenant' } },
  body: CustomDomainRequest,
  example: EXAMPLE,
  resource: CustomDomain,
  response: CustomDomain,
  errorStatuses: [400],
  idempotent: true,
});

export const retrieveCustomDomain = defineOperation({
  name: 'tenant-config.retrieve-custom-domain',
  summary: 'Retrieve the custom domain with its verification status',
  http: { method: 'GET', path, success: 200 },
  access: requires('custom-domain:read'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_RETRIEVE', category, object: { type: 'custom-domain', from: 'tenant' } },
  response: CustomDomain,
  errorStatuses: [404],
});

export const updateCustomDomain = defineOperation({
  name: 'tenant-config.update-custom-domain',
  summary: 'Replace the custom domain',
  description: 'A different domain must be verified again.',
  http: { method: 'PUT', path, success: 200 },
  access: requires('custom-domain:update'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_UPDATE', category, object: { type: 'custom-domain', from: 'tenant' } },
  body: CustomDomainRequest,
  example: EXAMPLE,
  response: CustomDomain,
  errorStatuses: [400, 404],
});

export const deleteCustomDomain = defineOperation({
  name: 'tenant-config.delete-custom-domain',
  summary: 'Delete the custom domain',
  description: 'Its public documents are no longer served, and DIDs under the domain can no longer issue credentials.',
  http: { method: 'DELETE', path, success: 204 },
  access: requires('custom-domain:delete'),
  analytics: { prefix: 'CONFIG_CUSTOM_DOMAIN_DELETE', category, object: { type: 'custom-domain', from: 'tenant' } },
  errorStatuses: [404],
});

export const verifyCustomDomain = defineOperation({
  name: 'tenant-config.verify-custom-domain',
  summary: 'Verify the custom domain by its TXT record',
  description:
    'Returns 400 with `Verification failed` as long as there is no TXT record, none with the token, or the look-up fails; the detail says which. The call can be retried at any time.',
  http: { method: 'POST', path: `${path}/verify`, success: 204, body: 'none' },
  access: requires('custom-domain:verify'),
  analytics: {
    prefix: 'CONFIG_CUSTOM_DOMAIN_VERIFY',
    category,
    object: { type: 'custom-domain', from: 'tenant' },
    effects: 'outside',
  },
  errorStatuses: [400, 404],
});

export const retrieveManifest = defineOperation({
  name: 'tenant-config.retrieve-manifest',
  summary: 'Retrieve the web manifest of the brand of the verified custom domain',
  http: {
    method: 'GET',
    path: '/manifest.json',
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  response: BrandManifest,
  errorStatuses: [404],
});

/** Brand of the tenant; without members as long as it has no verified custom domain. */
export class VerifiedBrand {
  name?: string;
  logoUrl?: string;
  /** Host name. */
  domain?: string;
}

export const retrieveBrand = defineOperation({
  name: 'tenant-config.retrieve-brand',
  summary: 'Retrieve the brand of the verified custom domain',
  access: calledForTenant('issuance'),
  kind: 'query',
  response: VerifiedBrand,
});

/** Query of the gateway's tenant directory for a host that is not under a domain of the platform (ADR 0056). */
export class LookUpCustomDomainRequest {
  /** Canonical host. */
  @IsString() @MaxLength(300) host: string;
}

export class CustomDomainOwner {
  /** Absent if no tenant has verified this domain. */
  tenantId?: string;
}

export const lookUpCustomDomain = defineOperation({
  name: 'tenant-config.look-up-custom-domain',
  summary: 'Look up the tenant that has verified a domain',
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpCustomDomainRequest,
  response: CustomDomainOwner,
});
