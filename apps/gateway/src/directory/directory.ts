import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  admitUser,
  clientCreated,
  clientDeleted,
  lookUpManagementClient,
  lookUpTenant,
  tenantCreated,
  tenantDeleted,
  type DirectoryTenant,
  type OperationContext,
  type Role,
  type TenantContext,
} from '@attestry/contracts';
import type { Consumer } from '@attestry/messaging';
import { PlatformConfig, Reactions, ServiceClient, type PersonOfIssuer } from '@attestry/service-kit';

/** A living tenant as the gateway needs it. */
export interface DirectoryEntry {
  context: TenantContext;
  roles: ReadonlyMap<string, readonly Role[]>;
}

const MAX_ENTRIES = 50_000;
/** A host that was nobody's is asked for again after this long. */
const UNKNOWN_MS = 1000;
const MANAGEMENT_CLIENT_MS = 1000;
const USER_MS = 1000;

/**
 * Hosts, tenants and clients, kept in memory (decision 4). A miss asks management; an ending comes over the feed and
 * takes effect at once; while the feed is stale nothing cached is believed.
 */
@Injectable()
export class Directory implements OnApplicationBootstrap {
  private readonly byHost = new LRUCache<string, DirectoryEntry>({ max: MAX_ENTRIES });
  private readonly unknown = new LRUCache<string, true>({ max: 10_000, ttl: UNKNOWN_MS });
  private readonly hostOf = new Map<string, string>();
  private readonly managementClients = new LRUCache<string, true>({ max: 10_000, ttl: MANAGEMENT_CLIENT_MS });
  private readonly users = new LRUCache<string, string>({ max: 10_000, ttl: USER_MS });
  private readonly asking = new Map<string, Promise<DirectoryEntry | undefined>>();
  /** Grows with every change heard of; an answer asked for before a change is not kept. */
  private generation = 0;
  private feed: Consumer | undefined;

  constructor(
    private readonly services: ServiceClient,
    private readonly reactions: Reactions,
    private readonly config: PlatformConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.feed = this.reactions.listen(
      {
        name: 'gateway.directory',
        subjects: [tenantCreated, tenantDeleted, clientCreated, clientDeleted].map(({ subject }) => subject),
      },
      async (messages) => {
        this.generation++;
        for (const { data } of messages) this.forget(data as { tenantId: string; host?: string });
      },
    );
  }

  /** @param deadline of the call that wants to know, milliseconds since the epoch, as everywhere here */
  async tenantByHost(host: string, deadline: number): Promise<DirectoryEntry | undefined> {
    if (this.feed?.health.healthy) {
      const known = this.byHost.get(host);
      if (known) return known;
      if (this.unknown.has(host)) return undefined;
    }
    let asked = this.asking.get(host);
    if (!asked) {
      asked = this.ask(host, deadline).finally(() => this.asking.delete(host));
      this.asking.set(host, asked);
    }
    return asked;
  }

  /**
   * Roles of a tenant's client, `undefined` when it does not exist. A client that is not in the entry may be younger
   * than it, so management is asked once more.
   */
  async rolesOf(host: string, clientId: string, deadline: number): Promise<readonly Role[] | undefined> {
    const entry = await this.tenantByHost(host, deadline);
    return entry?.roles.get(clientId) ?? (await this.ask(host, deadline))?.roles.get(clientId);
  }

  async hasManagementClient(clientId: string, deadline: number): Promise<boolean> {
    if (this.managementClients.has(clientId)) return true;
    const { exists } = await this.services.call(lookUpManagementClient, { body: { clientId } }, lookUp(deadline));
    if (exists) this.managementClients.set(clientId, true);
    return exists;
  }

  /** The user that a person is; management registers them at the first sight. */
  async userOf(person: PersonOfIssuer, deadline: number): Promise<string> {
    const { issuer, subject, email, emailVerified, name } = person;
    const key = JSON.stringify([issuer, subject, email, emailVerified, name]);
    const known = this.users.get(key);
    if (known !== undefined) return known;
    const { userId } = await this.services.call(admitUser, { body: person }, lookUp(deadline));
    this.users.set(key, userId);
    return userId;
  }

  private async ask(host: string, deadline: number): Promise<DirectoryEntry | undefined> {
    const generation = this.generation;
    const { tenant } = await this.services.call(lookUpTenant, { body: { host } }, lookUp(deadline));
    const entry = tenant && this.entry(tenant);
    if (generation !== this.generation) return entry;
    if (entry) {
      this.byHost.set(host, entry);
      this.hostOf.set(entry.context.id, host);
    } else this.unknown.set(host, true);
    return entry;
  }

  private entry(tenant: DirectoryTenant): DirectoryEntry {
    return {
      context: {
        id: tenant.tenantId,
        environmentId: tenant.environmentId,
        host: tenant.host,
        baseUrl: `${this.config.publicScheme}://${tenant.host}`,
      },
      roles: new Map(tenant.clients.map(({ clientId, roles }) => [clientId, roles])),
    };
  }

  private forget(change: { tenantId: string; host?: string }): void {
    const host = change.host ?? this.hostOf.get(change.tenantId);
    this.hostOf.delete(change.tenantId);
    if (host === undefined) return;
    this.byHost.delete(host);
    this.unknown.delete(host);
  }
}

const lookUp = (deadline: number): OperationContext => ({
  caller: { kind: 'service', service: 'gateway' },
  requestId: '',
  operation: 'gateway.directory',
  deadline,
  publicUrl: '',
});
