/**
 * Tags of the interface definitions, in the order in which they are shown: name, description, paths. The first one that has the
 * path of an operation is its tag.
 */
const RESOURCES: readonly (readonly [name: string, about: string, paths: RegExp])[] = [
  ['Access tokens', 'Tokens of API clients and the keys that verify them.', /^\/(oauth\/|\.well-known\/jwks)/],
  ['Environments', 'Environments, each with its own base domain.', /^\/v1\/environments/],
  ['Clients', 'API clients of a tenant, their roles and secrets.', /^\/v1\/tenants\/:tenantId\/clients/],
  ['Members', 'Users with roles on a tenant.', /^\/v1\/tenants\/:tenantId\/member/],
  ['Invitations', 'Invitations to become a member.', /^\/v1\/(tenants\/:tenantId\/)?invitations/],
  ['Tenants', 'Tenants and the record of calls that concern them.', /^\/v1\/tenants/],
  ['User information', 'The user who calls.', /^\/v1\/userinfo/],
  ['DIDs', 'Decentralized identifiers, their documents, domain linkage.', /^\/(v1\/dids|\.well-known\/did)/],
  ['Custom domain', 'Domain name of the issuer, and its brand.', /^\/(v1\/config\/domain|manifest)/],
  [
    'IACAs',
    'Certificates of issuing authorities for mobile documents, and their CRLs.',
    /^\/v2\/credentials\/mobile\/iacas/,
  ],
  [
    'Document signers',
    'Certificates of the keys that sign mobile documents.',
    /^\/v2\/credentials\/mobile\/document-signers/,
  ],
  [
    'Status list signers',
    'Certificates of the keys that sign status lists of mobile documents.',
    /^\/v2\/credentials\/mobile\/status-list-signers/,
  ],
  [
    'Status lists',
    'Status lists, identifier lists and revocation lists of credentials.',
    /^\/v2\/credentials\/([\w-]+\/)?(status|identifier|revocation)-lists/,
  ],
  [
    'Credential configurations',
    'What the tenant issues, by credential format.',
    /^\/v2\/credentials\/[\w-]+\/configurations/,
  ],
  ['Credentials', 'Issued credentials and their status.', /^\/v2\/credentials/],
  ['Offers', 'Credential offers that wallets redeem.', /^\/v1\/openid\/offers/],
  ['Claims sources', 'Services of the tenant that return claims.', /^\/v1\/claim-sources/],
  ['Authentication providers', 'OpenID provider of users.', /^\/v1\/users\/authentication-providers/],
  ['Users', 'Users of the tenant, their claims and credentials.', /^\/v1\/users/],
  ['Webhooks', 'Webhooks, deliveries and the keys that verify signatures.', /^\/v1\/webhooks/],
  ['Analytics events', 'Record of the calls made to the tenant.', /^\/v1\/events/],
  [
    'Verifiers',
    'Keys, certificates and types of credentials.',
    /^\/(v1\/openid\/(issuer-ca|iacas|types)|\.well-known\/jwt-vc-issuer)/,
  ],
  ['Wallets', 'Wallets that the tenant has registered.', /^\/v1\/openid\/wallet/],
  ['OpenID settings', "Settings of the tenant's OID4VCI endpoints.", /^\/v1\/openid\/configuration/],
  ['Deferred issuances', 'Issuances that wait for approval or claims.', /^\/v1\/openid\/deferred($|\/)/],
  [
    'Authorization server',
    'Endpoints for wallets: authorization and tokens (RFC 6749).',
    /^\/(v1\/oauth\/|\.well-known\/oauth-authorization-server)/,
  ],
  [
    'Credential issuer',
    'Endpoints for wallets: metadata and credentials (OID4VCI 1.0).',
    /^\/(v1\/openid\/(credential|nonce|deferred-credential|notification)$|\.well-known\/openid-credential-issuer)/,
  ],
  ['JSON-LD context', 'The JSON-LD context of the platform.', /^\/v1$/],
];

/** @throws Error when no resource has the path */
export const resourceOf = (path: string): string => {
  const found = RESOURCES.find(([, , paths]) => paths.test(path));
  if (!found) throw new Error(`no resource in openapi/resources.ts has the path ${path}`);
  return found[0];
};

/** Tag objects of these resources, in order. */
export const tagsOf = (names: ReadonlySet<string>): { name: string; description: string }[] =>
  RESOURCES.filter(([name]) => names.has(name)).map(([name, description]) => ({ name, description }));
