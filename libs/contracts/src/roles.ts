/** Roles of clients and members on a tenant, and the permissions each one carries. */

export const ROLES = [
  'admin',
  'issuer',
  'managed-issuer',
  'holder',
  'verifier',
  'dts-provider',
  'dts-consumer',
  'auditor',
  'certificate-manager',
] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (value: unknown): value is Role => (ROLES as readonly unknown[]).includes(value);

export type Action =
  'create' | 'read' | 'update' | 'delete' | 'verify' | 'sign' | 'revoke' | 'send' | 'search' | 'sync' | 'validate';

type Grants = Readonly<Partial<Record<Action, readonly Role[]>>>;

/** Grants these actions on a resource to these roles. */
const may = (roles: readonly Role[], ...actions: readonly Action[]): Grants =>
  Object.fromEntries(actions.map((action) => [action, roles]));

const CRUD = ['create', 'read', 'update', 'delete'] as const;
const ADMIN: readonly Role[] = ['admin'];
const ISSUER: readonly Role[] = ['admin', 'issuer'];
const ISSUING: readonly Role[] = ['admin', 'issuer', 'managed-issuer'];
const VERIFIER: readonly Role[] = ['admin', 'verifier'];
const HOLDER: readonly Role[] = ['admin', 'holder'];
const PROVIDER: readonly Role[] = ['admin', 'dts-provider'];
const CONSUMER: readonly Role[] = ['admin', 'dts-consumer'];
const PLATFORM_USERS: readonly Role[] = ['admin', 'issuer', 'managed-issuer', 'verifier', 'dts-provider'];
const withCertificates = (roles: readonly Role[]): readonly Role[] => [...roles, 'certificate-manager'];
const CERTIFICATE_MANAGERS = withCertificates(ISSUER);
const CERTIFICATE_READERS = withCertificates(ISSUING);
/** A managed issuer issues with the configurations and certificates that others manage, and must be able to read them. */
const issuerManaged = (managers: readonly Role[], readers: readonly Role[]): Grants => ({
  ...may(managers, 'create', 'update', 'delete'),
  ...may(readers, 'read'),
});

/**
 * The single table (specification notes, Roles): the actions on each resource and the roles that have them. Guards, the OpenAPI documents and
 * every `permissions` array derive from it, also of resources that have no operation yet. Roles that are not named have no access.
 */
const GRANTS = {
  analytics: may(['admin', 'auditor'], 'read'),
  'credential-reports': may(['admin', 'auditor', 'issuer', 'managed-issuer'], 'read'),
  'custom-domain': may(PLATFORM_USERS, ...CRUD, 'verify'),
  dids: may(PLATFORM_USERS, 'create', 'read', 'delete'),
  webhooks: may(ISSUING, ...CRUD),
  messaging: may(ISSUER, 'sign', 'verify', 'send'),
  inboxes: may(ISSUER, ...CRUD),
  'authentication-providers': may(ISSUING, ...CRUD),
  users: may(ISSUING, ...CRUD, 'search'),
  'interaction-hook': may(ISSUING, ...CRUD),
  'claim-sources': may(ISSUER, ...CRUD),
  offers: may(ISSUING, 'create', 'read', 'delete'),
  'deferred-issuances': { ...may(ISSUING, 'read'), ...may(ISSUER, 'update') },
  'credential-configurations': issuerManaged(ISSUER, ISSUING),
  credentials: { ...may(ISSUING, 'read', 'delete', 'sign', 'revoke'), ...may(VERIFIER, 'verify') },
  // Includes revocation of formats without suspension, and the lists.
  'credential-status': may(ISSUING, 'read', 'update'),
  templates: may(ISSUER, ...CRUD),
  // Includes their CRLs.
  iacas: issuerManaged(CERTIFICATE_MANAGERS, CERTIFICATE_READERS),
  'document-signers': {
    ...issuerManaged(CERTIFICATE_MANAGERS, CERTIFICATE_READERS),
    ...may(CERTIFICATE_MANAGERS, 'revoke'),
  },
  'status-list-signers': issuerManaged(CERTIFICATE_MANAGERS, CERTIFICATE_READERS),
  'status-list-configurations': issuerManaged(ISSUER, ISSUING),
  wallets: issuerManaged(ISSUER, ISSUING),
  'openid-configuration': { ...may(ISSUER, 'update'), ...may(ISSUING, 'read') },
  'trusted-issuers': may(VERIFIER, 'create', 'read', 'delete'),
  'verifier-cas': may(withCertificates(VERIFIER), ...CRUD),
  'verifier-applications': may(VERIFIER, ...CRUD),
  'wallet-providers': may(VERIFIER, ...CRUD),
  'verifier-signers': may(withCertificates(VERIFIER), ...CRUD),
  'identity-access-certificates': may(withCertificates(VERIFIER), 'create', 'read', 'delete'),
  presentations: may(VERIFIER, ...CRUD, 'verify'),
  'holder-applications': may(HOLDER, ...CRUD),
  'holder-cas': may(withCertificates(HOLDER), ...CRUD),
  'wallet-attestation-signers': may(withCertificates(HOLDER), ...CRUD),
  ecosystems: may(PROVIDER, ...CRUD, 'sync'),
  participants: may(PROVIDER, ...CRUD),
  policies: may(PROVIDER, ...CRUD),
  vicals: may(PROVIDER, ...CRUD),
  ricals: may(PROVIDER, ...CRUD),
  'dts-cas': may(withCertificates(PROVIDER), ...CRUD),
  'ecosystem-configuration': may(CONSUMER, ...CRUD),
  'trust-validation': may(CONSUMER, 'validate'),
  tenant: may(ADMIN, 'read', 'update', 'delete'),
  'tenant-clients': may(ADMIN, ...CRUD),
  'tenant-members': may(ADMIN, ...CRUD),
} satisfies Record<string, Grants>;

export type Resource = keyof typeof GRANTS;
/** `<resource>:<action>`, for example `dids:read`. */
export type Permission = `${Resource}:${Action}`;

const granted: readonly (readonly [Permission, readonly Role[]])[] = Object.entries(GRANTS).flatMap(
  ([resource, grants]) =>
    Object.entries(grants as Grants).map(([action, roles]) => [`${resource}:${action}` as Permission, roles] as const),
);

/** The table read by role. */
export const PERMISSIONS = Object.fromEntries(
  ROLES.map((role) => [role, granted.flatMap(([permission, roles]) => (roles.includes(role) ? [permission] : []))]),
) as unknown as Readonly<Record<Role, readonly Permission[]>>;

/** Resources that define the identity of a tenant, how its users are authenticated, and where their claims are from. */
const IDENTITY_RESOURCES: readonly Resource[] = [
  'custom-domain',
  'dids',
  'authentication-providers',
  'interaction-hook',
];
/** Roles that may change it while the tenant's `restrictIdentityRoles` is on. */
export const IDENTITY_ROLES: readonly Role[] = ISSUER;

/** Whether a client or a member with these roles may; with `restrictIdentityRoles` a tenant takes writes of its identity from fewer roles (ADR 0053). */
export const isAllowed = (
  roles: readonly Role[],
  permission: Permission,
  { restrictIdentityRoles }: { restrictIdentityRoles: boolean },
): boolean => {
  const [resource, action] = permission.split(':') as [Resource, Action];
  const isRestricted = restrictIdentityRoles && action !== 'read' && IDENTITY_RESOURCES.includes(resource);
  return roles.some(
    (role) => PERMISSIONS[role]?.includes(permission) && (!isRestricted || IDENTITY_ROLES.includes(role)),
  );
};

/** Union of the roles' permissions, sorted, without repeats. */
export const permissionsOf = (roles: readonly Role[]): Permission[] =>
  [...new Set(roles.flatMap((role) => PERMISSIONS[role] ?? []))].sort();

/** Roles that carry a permission, in the order of {@link ROLES}. */
export const rolesWith = (permission: Permission): Role[] =>
  ROLES.filter((role) => PERMISSIONS[role].includes(permission));
