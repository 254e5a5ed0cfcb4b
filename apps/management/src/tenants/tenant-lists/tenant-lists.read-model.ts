import { Injectable } from '@nestjs/common';
import type { PageOf, PageQuery, Role } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { Health, listPage, ReadModel } from '@attestry/service-kit';
import type { SelectQueryBuilder } from 'kysely';
import type { Principal } from '../tenant/tenant.decisions.js';
import { tenantLists, type TenantListTables } from './tenant-lists.projection.js';

export interface ListedTenant {
  id: string;
  environmentId: string;
  name: string;
  subdomain: string;
  restrictIdentityRoles: boolean;
  roles: Role[];
}
export interface ListedMember {
  userId: string;
  sealedEmail: string | null;
  sealedName: string | null;
}
export interface ListedClient {
  id: string;
  name: string;
  roles: Role[];
}

@Injectable()
export class TenantListsReadModel extends ReadModel<TenantListTables> {
  constructor(
    readModels: ReadModels,
    health: Health,
    private readonly macs: Macs,
  ) {
    super(readModels, health, tenantLists);
  }

  /** The active tenants of some environments in which the caller is a member, oldest first. */
  async tenantsOf(
    caller: Principal,
    environmentIds: readonly string[],
    request: PageQuery,
  ): Promise<PageOf<ListedTenant>> {
    const { db } = this.running;
    const query = (
      caller.kind === 'client'
        ? db
            .selectFrom('tenant')
            .innerJoin('membership', 'membership.tenant_id', 'tenant.id')
            .where('membership.management_client_id', '=', caller.clientId)
            .select('membership.roles as roles')
        : db
            .selectFrom('tenant')
            .innerJoin('member', 'member.tenant_id', 'tenant.id')
            .where('member.user_id', '=', caller.userId)
            .where('member.is_active', '=', 1)
            .select('member.roles as roles')
    ) as SelectQueryBuilder<TenantListTables, 'tenant', { roles: string }>;
    const selected = query
      .where('tenant.environment_id', 'in', environmentIds)
      .select([
        'tenant.id as id',
        'tenant.environment_id as environment_id',
        'tenant.name as name',
        'tenant.subdomain as subdomain',
        'tenant.restrict_identity_roles as restrict_identity_roles',
        'tenant.created_at as created_at',
      ]);
    const owner = caller.kind === 'client' ? [caller.clientId] : ['user', caller.userId];
    const rows = await listPage(selected, request, this.macs, ['management', 'tenants', ...owner], {
      contents: ['tenant.name', 'tenant.subdomain'],
      timeColumn: 'tenant.created_at',
      idColumn: 'tenant.id',
    });
    return {
      ...rows,
      data: rows.data.map(({ id, environment_id: environmentId, name, subdomain, restrict_identity_roles, roles }) => ({
        id,
        environmentId,
        name,
        subdomain,
        restrictIdentityRoles: restrict_identity_roles === 1,
        roles: JSON.parse(roles) as Role[],
      })),
    };
  }

  /** The people of a tenant, invited ones too, oldest first. */
  membersOf(tenantId: string, request: PageQuery): Promise<PageOf<ListedMember>> {
    return this.peopleOf(tenantId, 'members', request);
  }

  /** People of a tenant who were invited and have not accepted, oldest first. */
  invitedOf(tenantId: string, request: PageQuery): Promise<PageOf<ListedMember>> {
    return this.peopleOf(tenantId, 'invitations', request);
  }

  private async peopleOf(
    tenantId: string,
    list: 'members' | 'invitations',
    request: PageQuery,
  ): Promise<PageOf<ListedMember>> {
    const all = this.running.db
      .selectFrom('member')
      .leftJoin('person', 'person.id', 'member.user_id')
      .where('member.tenant_id', '=', tenantId)
      .select([
        'member.user_id as id',
        'member.created_at as created_at',
        'person.sealed_email as sealed_email',
        'person.sealed_name as sealed_name',
      ]);
    const query = list === 'members' ? all : all.where('member.is_active', '=', 0);
    const rows = await listPage(query, request, this.macs, ['management', list, tenantId], {
      contents: ['person.sealed_email', 'person.sealed_name'],
      timeColumn: 'member.created_at',
      idColumn: 'member.user_id',
    });
    return {
      ...rows,
      data: rows.data.map(({ id: userId, sealed_email: sealedEmail, sealed_name: sealedName }) => ({
        userId,
        sealedEmail,
        sealedName,
      })),
    };
  }

  /** Name of the tenant and sealed address of a user it has invited; `undefined` while either row is missing. */
  async invited(
    tenantId: string,
    userId: string,
  ): Promise<{ tenantName: string; sealedEmail: string | null } | undefined> {
    const read = () =>
      this.running.db
        .selectFrom('tenant')
        .innerJoin('member', 'member.tenant_id', 'tenant.id')
        .innerJoin('person', 'person.id', 'member.user_id')
        .where('tenant.id', '=', tenantId)
        .where('member.user_id', '=', userId)
        .select(['tenant.name as tenantName', 'person.sealed_email as sealedEmail'])
        .executeTakeFirst();
    const found = await read();
    if (found) return found;
    await this.running.ownWrites();
    return read();
  }

  /** The tenant that has a client of this id. It may have deleted it since: its stream decides. */
  async tenantOfClient(clientId: string): Promise<string | undefined> {
    const { db } = this.running;
    const row = await db.selectFrom('tenant_client').select('tenant_id').where('id', '=', clientId).executeTakeFirst();
    return row?.tenant_id;
  }

  /** The clients of a tenant, oldest first. */
  async clientsOf(tenantId: string, request: PageQuery): Promise<PageOf<ListedClient>> {
    const query = this.running.db
      .selectFrom('tenant_client')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'name', 'roles', 'created_at']);
    const rows = await listPage(query, request, this.macs, ['management', 'clients', tenantId], {
      contents: ['name', 'roles'],
    });
    return {
      ...rows,
      data: rows.data.map(({ id, name, roles }) => ({ id, name, roles: JSON.parse(roles) as Role[] })),
    };
  }
}
