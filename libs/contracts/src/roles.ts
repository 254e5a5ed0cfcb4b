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

export type Action = 'create' | 'read' | 'update' | 'delete' | 'verify';
export type Resource =
  | 'custom-domain'
  | 'authentication-providers'
  | 'dids'
  | 'webhooks'
  | 'users'
  | 'offers'
  | 'credential-configurations'
  | 'credentials'
  | 'analytics'
  | 'tenant'
  | 'tenant-clients';
/** `<resource>:<action>` */
export type Permission = `${Resource}:${Action}`;

const all = (resource: Resource, ...actions: Action[]): Permission[] =>
  (actions.length ? actions : (['create', 'read', 'update', 'delete'] as Action[])).map(
    (action) => `${resource}:${action}` as Permission,
  );

/** What a tenant is known by: its domain and its identifiers. */
const IDENTITY = [
  ...all('custom-domain', 'create', 'read', 'update', 'delete', 'verify'),
  ...all('dids', 'create', 'read', 'delete'),
];
const OFFERS = all('offers', 'create', 'delete');
/** Who holds credentials, and who signs them in. */
const USERS = [
  ...all('authentication-providers'),
  ...all('users', 'create', 'read', 'delete'),
  ...all('credentials', 'read'),
];

/** The single table role → permissions. A spec proves that it and the roles on the operations agree. */
export const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  admin: [
    ...IDENTITY,
    ...all('webhooks'),
    ...USERS,
    ...OFFERS,
    ...all('credential-configurations'),
    ...all('analytics', 'read'),
    ...all('tenant', 'read', 'delete'),
    ...all('tenant-clients', 'create', 'read', 'delete'),
  ],
  issuer: [...IDENTITY, ...all('webhooks'), ...USERS, ...OFFERS, ...all('credential-configurations')],
  'managed-issuer': [...IDENTITY, ...all('webhooks'), ...USERS, ...OFFERS, ...all('credential-configurations', 'read')],
  holder: [],
  verifier: IDENTITY,
  'dts-provider': IDENTITY,
  'dts-consumer': [],
  auditor: all('analytics', 'read'),
  'certificate-manager': [],
};

/** Union of the roles' permissions, sorted, without repeats. */
export const permissionsOf = (roles: readonly Role[]): Permission[] =>
  [...new Set(roles.flatMap((role) => PERMISSIONS[role] ?? []))].sort();

/** Roles that carry a permission, in the order of {@link ROLES}. */
export const rolesWith = (permission: Permission): Role[] =>
  ROLES.filter((role) => PERMISSIONS[role].includes(permission));
