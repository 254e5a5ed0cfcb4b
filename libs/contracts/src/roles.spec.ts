import { OPERATIONS } from './registry.js';
import {
  isAllowed,
  isRole,
  PERMISSIONS,
  permissionsOf,
  ROLES,
  rolesWith,
  type Permission,
  type Role,
} from './roles.js';

const words = (text: string): string[] => text.split(/\s+/);
const PLATFORM = 'admin issuer managed-issuer verifier dts-provider';
const ISSUING = 'admin issuer managed-issuer';
const PROFILE = '/v2/credentials/[a-z-]+';
const CERTIFICATE = '/v2/credentials/mobile/(?:iacas|document-signers|status-list-signers)\\b';

/**
 * The specification's roles per group of operations (specification notes, Roles), with the method and path of its operations; the first that
 * matches counts. Written out, so that no table proves itself. Groups whose operations do not exist yet are listed too.
 */
const ROLES_OF_GROUP: [group: string, roles: string, call: string][] = [
  ['Custom domain, all operations', PLATFORM, '[A-Z]+ /v1/config/domain\\b'],
  ['DIDs: create, list, retrieve, delete', PLATFORM, '[A-Z]+ /v1/dids\\b'],
  ['Webhooks, all operations', ISSUING, '[A-Z]+ /v1/webhooks\\b'],
  ['Credential reports', 'admin auditor issuer managed-issuer', 'POST /v1/events/credential-reports$'],
  ['Analytics events', 'admin auditor', 'GET /v1/events\\b'],
  ['Authentication providers', ISSUING, '[A-Z]+ /v1/users/authentication-providers\\b'],
  ['Users, all operations, and their credentials', ISSUING, '[A-Z]+ /v1/users\\b'],
  ['OID4VCI settings: read', ISSUING, 'GET /v1/openid/configuration$'],
  ['OID4VCI settings: write, of managed issuers only the interaction hook', ISSUING, 'PUT /v1/openid/configuration$'],
  ['Wallets: read', ISSUING, 'GET /v1/openid/(?:wallets|wallet-attestation-configurations)\\b'],
  ['Wallets: write', 'admin issuer', '[A-Z]+ /v1/openid/(?:wallets|wallet-attestation-configurations)\\b'],
  ['Claim sources', 'admin issuer', '[A-Z]+ /v1/claim-sources\\b'],
  ['Credential offers of both flows', ISSUING, '[A-Z]+ /v1/openid/offers\\b'],
  ['Deferred issuances: list', ISSUING, 'GET /v1/openid/deferred$'],
  ['Deferred issuances: approve, deny', 'admin issuer', 'POST /v1/openid/deferred/:id/(?:approve|deny)$'],
  ['Messaging', 'admin issuer', '[A-Z]+ /v1/messaging\\b'],
  ['Configurations of status lists: read', ISSUING, 'GET /v2/credentials/mobile/status-lists/configurations\\b'],
  [
    'Configurations of status lists: write',
    'admin issuer',
    '[A-Z]+ /v2/credentials/mobile/status-lists/configurations\\b',
  ],
  ['Credential configurations: read', ISSUING, `GET ${PROFILE}/configurations\\b`],
  ['Credential configurations: write', 'admin issuer', `(?:POST|PUT|DELETE) ${PROFILE}/configurations\\b`],
  ['IACAs, document signers, status list signers: read', `${ISSUING} certificate-manager`, `GET ${CERTIFICATE}`],
  [
    'The same: create, update, revoke, delete',
    'admin issuer certificate-manager',
    `(?:POST|PUT|DELETE) ${CERTIFICATE}`,
  ],
  [
    'Status and revocation of a credential',
    ISSUING,
    `(?:GET|POST) ${PROFILE}/:[a-zA-Z]+/(?:revocation-)?status(?:/notification)?$`,
  ],
  ['Status lists and revocation lists', ISSUING, `GET ${PROFILE}/(?:status-lists|revocation-lists)(?:/:id)?$`],
  [
    'Issued credentials: list, retrieve, delete',
    ISSUING,
    '(?:GET|DELETE) /v2/credentials(?:/[a-z-]+)?(?:/:[a-zA-Z]+)?$',
  ],
  ['Signing outside OID4VCI', ISSUING, `POST ${PROFILE}/sign$`],
];
/** Groups whose operations do not exist yet. */
const UNDECLARED = ['Messaging', 'Signing outside OID4VCI'];

/** The same for members of a tenant on the management API. */
const ROLES_OF_MEMBERS: Record<string, string[]> = {
  'management.retrieve-tenant': [...ROLES],
  'management.update-tenant': ['admin'],
  'management.delete-tenant': ['admin'],
  'management.create-client': ['admin'],
  'management.list-clients': ['admin'],
  'management.retrieve-client': ['admin'],
  'management.update-client': ['admin'],
  'management.rotate-client-secret': ['admin'],
  'management.delete-client': ['admin'],
  'management.invite-member': ['admin'],
  'management.list-invitations': ['admin'],
  'management.resend-invitation': ['admin'],
  'management.cancel-invitation': ['admin'],
  'management.list-members': ['admin'],
  'management.retrieve-member': ['admin', 'self'],
  'management.update-membership': ['admin'],
  'management.delete-membership': ['admin', 'self'],
  'management.list-tenant-events': ['admin', 'auditor'],
};

/** Resources by the roles that may do everything with them, written out independently of the table under test. */
const RESOURCES_OF_ROLE: Record<Exclude<Role, 'admin'>, string> = {
  issuer: `authentication-providers claim-sources credential-configurations credential-reports credential-status credentials
    custom-domain deferred-issuances dids document-signers iacas inboxes interaction-hook messaging offers openid-configuration
    status-list-configurations status-list-signers templates users wallets webhooks`,
  'managed-issuer': `authentication-providers credential-configurations credential-reports credential-status
    credentials custom-domain deferred-issuances dids document-signers iacas interaction-hook offers openid-configuration
    status-list-configurations status-list-signers users wallets webhooks`,
  holder: 'holder-applications holder-cas wallet-attestation-signers',
  verifier: `credentials custom-domain dids identity-access-certificates presentations trusted-issuers verifier-applications
    verifier-cas verifier-signers wallet-providers`,
  'dts-provider': 'custom-domain dids dts-cas ecosystems participants policies ricals vicals',
  'dts-consumer': 'ecosystem-configuration trust-validation',
  auditor: 'analytics credential-reports',
  'certificate-manager': `document-signers dts-cas holder-cas iacas identity-access-certificates status-list-signers
    verifier-cas verifier-signers wallet-attestation-signers`,
};

/** The permission strings of the API specifications: resources and actions. */
const RESOURCES = `analytics credential-reports custom-domain dids webhooks messaging inboxes authentication-providers users
  interaction-hook claim-sources offers deferred-issuances credential-configurations credentials credential-status templates iacas document-signers
  status-list-signers status-list-configurations wallets openid-configuration trusted-issuers verifier-cas verifier-applications wallet-providers
  verifier-signers identity-access-certificates presentations holder-applications holder-cas wallet-attestation-signers
  ecosystems participants policies vicals ricals dts-cas ecosystem-configuration trust-validation tenant-clients
  tenant-members tenant`;
const ACTIONS = 'create read update delete verify sign revoke send search sync validate';

const sorted = (values: Iterable<string>): string[] => [...values].sort();
const resourcesOf = (role: Role): string[] =>
  sorted(new Set(permissionsOf([role]).map((permission) => permission.split(':')[0]!)));

describe('roles', () => {
  it('are the nine specified ones', () => {
    expect(ROLES).toHaveLength(9);
    expect(sorted(Object.keys(PERMISSIONS))).toEqual(sorted(ROLES));
  });

  it('cover the specified resources', () => {
    for (const role of ROLES)
      expect([role, resourcesOf(role)]).toEqual([
        role,
        sorted(words(role === 'admin' ? RESOURCES : RESOURCES_OF_ROLE[role])),
      ]);
  });

  it('have only listed permissions, and admin has all of them', () => {
    for (const permission of permissionsOf(ROLES)) {
      const [resource, action] = permission.split(':');
      expect(words(RESOURCES)).toContain(resource);
      expect(words(ACTIONS)).toContain(action);
      expect(PERMISSIONS.admin).toContain(permission);
    }
    for (const action of words(ACTIONS))
      expect(permissionsOf(ROLES).some((permission) => permission.endsWith(`:${action}`))).toBe(true);
  });

  it.each([
    ['managed-issuer', 'credential-configurations', ['read']],
    ['verifier', 'credentials', ['verify']],
    ['issuer', 'credentials', ['delete', 'read', 'revoke', 'sign']],
    ['issuer', 'dids', ['create', 'delete', 'read']],
    ['verifier', 'custom-domain', ['create', 'delete', 'read', 'update', 'verify']],
    ['managed-issuer', 'users', ['create', 'delete', 'read', 'search', 'update']],
    ['managed-issuer', 'offers', ['create', 'delete', 'read']],
    ['managed-issuer', 'iacas', ['read']],
    ['managed-issuer', 'document-signers', ['read']],
    ['managed-issuer', 'status-list-signers', ['read']],
    ['managed-issuer', 'status-list-configurations', ['read']],
    ['managed-issuer', 'wallets', ['read']],
    ['managed-issuer', 'openid-configuration', ['read']],
    ['managed-issuer', 'deferred-issuances', ['read']],
    ['issuer', 'deferred-issuances', ['read', 'update']],
    ['issuer', 'wallets', ['create', 'delete', 'read', 'update']],
    ['issuer', 'openid-configuration', ['read', 'update']],
    ['certificate-manager', 'wallets', []],
    ['managed-issuer', 'credential-status', ['read', 'update']],
    ['issuer', 'document-signers', ['create', 'delete', 'read', 'revoke', 'update']],
    ['certificate-manager', 'document-signers', ['create', 'delete', 'read', 'revoke', 'update']],
    ['certificate-manager', 'status-list-signers', ['create', 'delete', 'read', 'update']],
    ['certificate-manager', 'status-list-configurations', []],
    ['certificate-manager', 'credential-configurations', []],
    ['certificate-manager', 'credential-status', []],
    ['certificate-manager', 'iacas', ['create', 'delete', 'read', 'update']],
    ['admin', 'tenant', ['delete', 'read', 'update']],
    ['auditor', 'analytics', ['read']],
  ] as [Role, string, string[]][])('%s has for %s the permissions %p', (role, resource, actions) => {
    const found = permissionsOf([role]).filter((permission) => permission.startsWith(`${resource}:`));
    expect(found.map((permission) => permission.split(':')[1])).toEqual(actions);
  });

  it('may call the specified operations and no others [T10, T165]', () => {
    const declared = OPERATIONS.flatMap(({ http, access }) =>
      access.kind === 'roles' ? [[`${http!.method} ${http!.path}`, sorted(access.roles)] as const] : [],
    );
    const groupOf = (call: string) => ROLES_OF_GROUP.find(([, , pattern]) => new RegExp(`^${pattern}`).test(call));
    const expected = declared.map(([call]) => [call, sorted(words(groupOf(call)?.[1] ?? 'no group'))] as const);
    expect(declared).toEqual(expected);
    const groups = new Set(declared.map(([call]) => groupOf(call)?.[0]));
    const without = ROLES_OF_GROUP.map(([group]) => group).filter((group) => !groups.has(group));
    expect(without).toEqual(UNDECLARED);
    expect(declared.length).toBeGreaterThanOrEqual(44);
  });

  it('of members allow these operations on their tenant', () => {
    const declared = OPERATIONS.flatMap(({ name, access }) =>
      access.kind === 'management' && access.roles
        ? [[name, [...access.roles, ...(access.orSelf ? ['self'] : [])]] as const]
        : [],
    );
    expect(Object.fromEntries(declared)).toEqual(ROLES_OF_MEMBERS);
  });

  it('decide about the statuses 401 and 403', () => {
    for (const { name, access, errorStatuses } of OPERATIONS) {
      if (access.kind !== 'roles' && access.kind !== 'management') continue;
      const isOpen =
        access.kind === 'management' && !access.usersOnly && (access.roles ?? ROLES).length === ROLES.length;
      const refusals = errorStatuses!.filter((status) => status === 401 || status === 403);
      expect([name, refusals]).toEqual([name, isOpen ? [401] : [401, 403]]);
    }
  });

  it('agree on operations and permissions in both directions', () => {
    for (const { name, access } of OPERATIONS) {
      if (!('permission' in access) || !access.permission) continue;
      const { permission, roles = [] } = access;
      expect([name, roles.length > 0]).toEqual([name, true]);
      for (const role of ROLES)
        expect([name, role, roles.includes(role)]).toEqual([name, role, permissionsOf([role]).includes(permission)]);
    }
  });

  it('are combined without duplicates', () => {
    expect(permissionsOf(['auditor', 'dts-consumer', 'auditor'])).toEqual([
      'analytics:read',
      'credential-reports:read',
      'ecosystem-configuration:create',
      'ecosystem-configuration:delete',
      'ecosystem-configuration:read',
      'ecosystem-configuration:update',
      'trust-validation:validate',
    ]);
    expect(permissionsOf([])).toEqual([]);
    expect(permissionsOf(['owner' as Role])).toEqual([]);
  });

  it('are recognized by exact name only', () => {
    expect(ROLES.every(isRole)).toBe(true);
    for (const other of ['owner', 'Admin', 'toString', '', 7, undefined]) expect(isRole(other)).toBe(false);
    expect(rolesWith('purses:create' as Permission)).toEqual([]);
  });
});

describe('restrictIdentityRoles', () => {
  const roles = OPERATIONS.flatMap(({ name, access }) => (access.kind === 'roles' ? [{ name, access }] : []));
  /** Operations that change a tenant's identity. Written out, so that no table proves itself. */
  const CHANGES = [
    ...['create', 'update', 'delete', 'verify'].map((action) => `tenant-config.${action}-custom-domain`),
    ...['create', 'update', 'delete', 'check'].map((action) => `tenant-config.${action}-authentication-provider`),
    ...['create', 'delete'].map((action) => `dids.${action}-did`),
    'dids.update-did-document',
    'issuance.update-openid-configuration',
  ];

  it('restricts changes of domain, DIDs, provider and interaction hook to admin and issuer, and nothing else', () => {
    expect(roles.map(({ name }) => name)).toEqual(expect.arrayContaining(CHANGES));
    for (const { name, access } of roles)
      for (const role of ROLES) {
        const open = isAllowed([role], access.permission, { restrictIdentityRoles: false });
        expect([name, role, open]).toEqual([name, role, access.roles.includes(role)]);
        const restricted = isAllowed([role], access.permission, { restrictIdentityRoles: true });
        const expected = open && (!CHANGES.includes(name) || role === 'admin' || role === 'issuer');
        expect([name, role, restricted]).toEqual([name, role, expected]);
      }
  });

  it('allows several roles when one of them is permitted', () => {
    const restricted = { restrictIdentityRoles: true };
    expect(isAllowed(['managed-issuer', 'issuer'], 'dids:create', restricted)).toBe(true);
    expect(isAllowed(['managed-issuer', 'verifier'], 'dids:create', restricted)).toBe(false);
    expect(isAllowed([], 'dids:read', restricted)).toBe(false);
  });
});
