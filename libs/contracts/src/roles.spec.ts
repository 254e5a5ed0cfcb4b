import { OPERATIONS } from './registry.js';
import { isRole, PERMISSIONS, permissionsOf, ROLES, rolesWith, type Permission, type Role } from './roles.js';

const IDENTITY: Role[] = ['admin', 'issuer', 'managed-issuer', 'verifier', 'dts-provider'];
const ISSUING: Role[] = ['admin', 'issuer', 'managed-issuer'];
const WRITING: Role[] = ['admin', 'issuer'];

/** The specification's roles per operation group, operation by operation. Written out, so that no table proves itself. */
const ROLES_OF_OPERATION: Record<string, Role[]> = {
  'tenant-config.create-custom-domain': IDENTITY,
  'tenant-config.retrieve-custom-domain': IDENTITY,
  'tenant-config.update-custom-domain': IDENTITY,
  'tenant-config.delete-custom-domain': IDENTITY,
  'tenant-config.verify-custom-domain': IDENTITY,
  'tenant-config.create-authentication-provider': ISSUING,
  'tenant-config.list-authentication-providers': ISSUING,
  'tenant-config.retrieve-authentication-provider': ISSUING,
  'tenant-config.update-authentication-provider': ISSUING,
  'tenant-config.delete-authentication-provider': ISSUING,
  'dids.create-did': IDENTITY,
  'dids.list-dids': IDENTITY,
  'dids.retrieve-did': IDENTITY,
  'dids.delete-did': IDENTITY,
  'webhooks.create-webhook': ISSUING,
  'webhooks.list-webhooks': ISSUING,
  'webhooks.retrieve-webhook': ISSUING,
  'webhooks.update-webhook': ISSUING,
  'webhooks.delete-webhook': ISSUING,
  'analytics.list-events': ['admin', 'auditor'],
  'issuance.create-user': ISSUING,
  'issuance.list-users': ISSUING,
  'issuance.retrieve-user': ISSUING,
  'issuance.delete-user': ISSUING,
  'issuance.list-user-credentials': ISSUING,
  'issuance.create-pre-authorized-offer': ISSUING,
  'issuance.delete-pre-authorized-offer': ISSUING,
  'issuance.create-credential-configuration.web-semantic': WRITING,
  'issuance.update-credential-configuration.web-semantic': WRITING,
  'issuance.delete-credential-configuration.web-semantic': WRITING,
  'issuance.list-credential-configurations.web-semantic': ISSUING,
  'issuance.retrieve-credential-configuration.web-semantic': ISSUING,
  'issuance.create-credential-configuration.jwt-vc': WRITING,
  'issuance.update-credential-configuration.jwt-vc': WRITING,
  'issuance.delete-credential-configuration.jwt-vc': WRITING,
  'issuance.list-credential-configurations.jwt-vc': ISSUING,
  'issuance.retrieve-credential-configuration.jwt-vc': ISSUING,
};

const PERMISSIONS_OF_ROLE: Record<Role, string[]> = {
  admin: [
    'analytics:read',
    'authentication-providers:create',
    'authentication-providers:delete',
    'authentication-providers:read',
    'authentication-providers:update',
    'credential-configurations:create',
    'credential-configurations:delete',
    'credential-configurations:read',
    'credential-configurations:update',
    'credentials:read',
    'custom-domain:create',
    'custom-domain:delete',
    'custom-domain:read',
    'custom-domain:update',
    'custom-domain:verify',
    'dids:create',
    'dids:delete',
    'dids:read',
    'offers:create',
    'offers:delete',
    'tenant-clients:create',
    'tenant-clients:delete',
    'tenant-clients:read',
    'tenant:delete',
    'tenant:read',
    'users:create',
    'users:delete',
    'users:read',
    'webhooks:create',
    'webhooks:delete',
    'webhooks:read',
    'webhooks:update',
  ],
  issuer: [
    'authentication-providers:create',
    'authentication-providers:delete',
    'authentication-providers:read',
    'authentication-providers:update',
    'credential-configurations:create',
    'credential-configurations:delete',
    'credential-configurations:read',
    'credential-configurations:update',
    'credentials:read',
    'custom-domain:create',
    'custom-domain:delete',
    'custom-domain:read',
    'custom-domain:update',
    'custom-domain:verify',
    'dids:create',
    'dids:delete',
    'dids:read',
    'offers:create',
    'offers:delete',
    'users:create',
    'users:delete',
    'users:read',
    'webhooks:create',
    'webhooks:delete',
    'webhooks:read',
    'webhooks:update',
  ],
  'managed-issuer': [
    'authentication-providers:create',
    'authentication-providers:delete',
    'authentication-providers:read',
    'authentication-providers:update',
    'credential-configurations:read',
    'credentials:read',
    'custom-domain:create',
    'custom-domain:delete',
    'custom-domain:read',
    'custom-domain:update',
    'custom-domain:verify',
    'dids:create',
    'dids:delete',
    'dids:read',
    'offers:create',
    'offers:delete',
    'users:create',
    'users:delete',
    'users:read',
    'webhooks:create',
    'webhooks:delete',
    'webhooks:read',
    'webhooks:update',
  ],
  holder: [],
  verifier: [
    'custom-domain:create',
    'custom-domain:delete',
    'custom-domain:read',
    'custom-domain:update',
    'custom-domain:verify',
    'dids:create',
    'dids:delete',
    'dids:read',
  ],
  'dts-provider': [
    'custom-domain:create',
    'custom-domain:delete',
    'custom-domain:read',
    'custom-domain:update',
    'custom-domain:verify',
    'dids:create',
    'dids:delete',
    'dids:read',
  ],
  'dts-consumer': [],
  auditor: ['analytics:read'],
  'certificate-manager': [],
};

/** Of members and clients of a tenant; decided by the management service, whose operations name no roles. */
const NOT_ON_TENANT_HOSTS = [
  'tenant:read',
  'tenant:delete',
  'tenant-clients:create',
  'tenant-clients:read',
  'tenant-clients:delete',
];

const sorted = (values: Iterable<string>): string[] => [...values].sort();

describe('roles', () => {
  it('carry these permissions', () => {
    for (const role of ROLES) expect([role, permissionsOf([role])]).toEqual([role, PERMISSIONS_OF_ROLE[role]]);
    expect(sorted(Object.keys(PERMISSIONS))).toEqual(sorted(ROLES));
  });

  it('may call these operations and no others', () => {
    const declared = OPERATIONS.flatMap(({ name, access }) =>
      access.kind === 'roles' ? [[name, sorted(access.roles)] as const] : [],
    );
    const expected = Object.entries(ROLES_OF_OPERATION).map(([name, roles]) => [name, sorted(roles)] as const);
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(expected));
  });

  it('agree on operations and permissions in both directions', () => {
    const used = new Set<string>();
    for (const { name, access } of OPERATIONS) {
      if (access.kind !== 'roles') continue;
      used.add(access.permission);
      for (const role of ROLES)
        expect([name, role, access.roles.includes(role)]).toEqual([
          name,
          role,
          PERMISSIONS_OF_ROLE[role].includes(access.permission),
        ]);
    }
    const granted = new Set(Object.values(PERMISSIONS_OF_ROLE).flat());
    expect(sorted([...used, ...NOT_ON_TENANT_HOSTS])).toEqual(sorted(granted));
  });

  it('add up without repeats', () => {
    expect(permissionsOf(['auditor', 'verifier', 'dts-provider'])).toEqual([
      'analytics:read',
      'custom-domain:create',
      'custom-domain:delete',
      'custom-domain:read',
      'custom-domain:update',
      'custom-domain:verify',
      'dids:create',
      'dids:delete',
      'dids:read',
    ]);
    expect(permissionsOf([])).toEqual([]);
    expect(permissionsOf(['owner' as Role])).toEqual([]);
  });

  it('are known by name only', () => {
    expect(ROLES.every(isRole)).toBe(true);
    for (const other of ['owner', 'Admin', 'toString', '', 7, undefined]) expect(isRole(other)).toBe(false);
    expect(rolesWith('wallets:create' as Permission)).toEqual([]);
  });
});
