import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  admitUser,
  lookUpCustomDomain,
  lookUpManagementClient,
  lookUpMember,
  lookUpTenant,
  lookUpToken,
  tokenRevoked,
  type Api,
  type CallContext,
  type DirectoryAnswer,
  type DirectorySecret,
  type DirectoryTenant,
  type MemberAnswer,
  type Role,
  type TenantContext,
} from '@attestry/contracts';
import type { Consumer, FeedMessage } from '@attestry/messaging';
import { PlatformConfig, Reactions, ServiceClient, type PersonOfIssuer } from '@attestry/service-kit';
import { newRequestId } from '../request/request-id.js';

/** The API of a host. The domain of an environment itself serves no operation, only its front page. */
export type HostKind = Api | 'platform';

/** API and tenant that a Host header names. */
export interface ResolvedHost {
  api: HostKind;
  /** Scheme and canonical host. */
  publicUrl: string;
  tenant?: TenantContext;
  /** Set for a deleted tenant: only documents that outlive it are served (ADR 0081). */
  ended?: 'deleted' | 'purged';
}

/** A tenant as the gateway needs it. A deleted one has no clients. */
export interface DirectoryEntry {
  context: TenantContext;
  /** The tenant's own host. */
  host: ResolvedHost;
  clients: ReadonlyMap<string, DirectoryClient>;
  /** Fewer roles may change custom domain, DIDs and authentication provider (ADR 0053). */
  restrictIdentityRoles: boolean;
}

interface DirectoryClient {
  roles: readonly Role[];
  /** Absent while management runs a release that does not name them. */
  secrets?: readonly DirectorySecret[];
}

/** A client as its verified token names it. */
export interface ClientOfToken {
  clientId: string;
  /** Absent in tokens of releases that did not name the secret; they end with their client, or expire. */
  secretId?: string;
}

const MAX_ENTRIES = 50_000;
/** A host that no tenant has is looked up again after this long. */
const UNKNOWN_MS = 1000;
const MANAGEMENT_CLIENT_MS = 1000;
const USER_MS = 1000;
/** Roles of a member are looked up again after this long: half of the time within which a change must count. */
const MEMBER_MS = 500;

/**
 * Hosts, tenants, clients and revoked tokens, cached in memory (ADR 0056). A miss queries management; an ending comes over the feed and
 * takes effect at once; while the feed is stale no cached entry is used.
 */
@Injectable()
export class Directory implements OnApplicationBootstrap {
  private readonly byHost = new LRUCache<string, DirectoryEntry>({ max: MAX_ENTRIES });
  /** Tenants by verified domain. */
  private readonly byCustomDomain = new LRUCache<string, TenantContext>({ max: MAX_ENTRIES });
  private readonly customDomainOf = new Map<string, string>();
  private readonly unknown = new LRUCache<string, true>({ max: 10_000, ttl: UNKNOWN_MS });
  /** Deleted tenants by host. */
  private readonly ended = new LRUCache<string, DirectoryEntry>({ max: 10_000, ttl: UNKNOWN_MS });
  private readonly hostOf = new Map<string, string>();
  /** By client id, the id of its secret. */
  private readonly managementClients = new LRUCache<string, { secretId?: string }>({
    max: 10_000,
    ttl: MANAGEMENT_CLIENT_MS,
  });
  /** By token id, whether it was revoked; each as long as the token lives. */
  private readonly revocations = new LRUCache<string, boolean>({ max: MAX_ENTRIES });
  private readonly users = new LRUCache<string, string>({ max: 10_000, ttl: USER_MS });
  /** By tenant and user; the roles are absent for a user who is no member. */
  private readonly members = new LRUCache<string, MemberAnswer & { until: number }>({ max: 10_000 });
  private readonly pending = new Map<string, Promise<DirectoryEntry | undefined>>();
  private readonly pendingMembers = new Map<string, Promise<MemberAnswer>>();
  private readonly pendingDomains = new Map<string, Promise<TenantContext | undefined>>();
  /** Incremented with every change received; a response requested before a change is not cached. */
  private generation = 0;
  /** Consumers of the changes of tenants and clients, and of custom domains. */
  private feed: Consumer | undefined;
  private domainFeed: Consumer | undefined;

  constructor(
    private readonly services: ServiceClient,
    private readonly reactions: Reactions,
    private readonly config: PlatformConfig,
  ) {}

  onApplicationBootstrap(): void {
    const receive = async (messages: FeedMessage[]) => {
      this.generation++;
      for (const { subject, data } of messages)
        if (subject === tokenRevoked.subject) this.keepRevocation(data as TokenRevokedData);
        else this.evict(data as { tenantId: string; host?: string; domain?: string });
    };
    this.feed = this.reactions.listen({ name: 'gateway.directory' }, receive);
    this.domainFeed = this.reactions.listen({ name: 'gateway.custom-domains' }, receive);
  }

  /**
   * @param deadline of the call, milliseconds since the epoch, as everywhere here
   * @param beforeLookUp awaited before management is queried
   * @returns a promise only where management is queried
   */
  tenantByHost(
    host: string,
    deadline: number,
    beforeLookUp?: () => Promise<void>,
  ): DirectoryEntry | undefined | Promise<DirectoryEntry | undefined> {
    if (this.feed?.health.healthy) {
      const known = this.byHost.get(host) ?? this.ended.get(host);
      if (known) return known;
      if (this.unknown.has(host)) return undefined;
    }
    return shareLookUp(this.pending, host, () => this.lookUpHost(host, deadline), beforeLookUp);
  }

  /** The active tenant that has verified this domain. @param domain host name in lower case */
  tenantByCustomDomain(
    domain: string,
    deadline: number,
    beforeLookUp?: () => Promise<void>,
  ): TenantContext | undefined | Promise<TenantContext | undefined> {
    if (this.feed?.health.healthy && this.domainFeed?.health.healthy) {
      const known = this.byCustomDomain.get(domain);
      if (known) return known;
      if (this.unknown.has(domain)) return undefined;
    }
    return shareLookUp(this.pendingDomains, domain, () => this.lookUpDomain(domain, deadline), beforeLookUp);
  }

  /**
   * Roles of a tenant's client; `undefined` when it does not exist, or the secret that its token was issued for has ended. A client or a
   * secret that is missing in the entry may be newer than it, so management is queried once more.
   */
  async rolesOf(
    host: string,
    client: ClientOfToken,
    now: Date,
    deadline: number,
  ): Promise<readonly Role[] | undefined> {
    const entry = await this.tenantByHost(host, deadline);
    const isSecretOfEntry = entry?.clients.get(client.clientId)?.secrets?.some(({ id }) => id === client.secretId);
    // An overlap that has ended is not queried again.
    if (isSecretOfEntry) return rolesIn(entry!, client, now);
    const known = entry && rolesIn(entry, client, now);
    if (known) return known;
    const fresh = await this.lookUpHost(host, deadline);
    return fresh && rolesIn(fresh, client, now);
  }

  async hasManagementClient({ clientId, secretId }: ClientOfToken, deadline: number): Promise<boolean> {
    const isOf = (known: { secretId?: string }) =>
      secretId === undefined || known.secretId === undefined || known.secretId === secretId;
    const known = this.managementClients.get(clientId);
    if (known && isOf(known)) return true;
    const answer = await this.services.call(lookUpManagementClient, { body: { clientId } }, lookUp(deadline));
    if (!answer.exists) return false;
    const found = answer.secretId === undefined ? {} : { secretId: answer.secretId };
    this.managementClients.set(clientId, found);
    return isOf(found);
  }

  /** @param expiresAt of the token, milliseconds since the epoch: the entry is dropped afterwards */
  async isRevoked(tokenId: string, expiresAt: number, now: Date, deadline: number): Promise<boolean> {
    const known = this.revocations.get(tokenId);
    // A revocation is final; its absence is cached as long as the feed would deliver one.
    if (known === true || (known === false && this.feed?.health.healthy)) return known;
    const generation = this.generation;
    const { isRevoked } = await this.services.call(lookUpToken, { body: { tokenId } }, lookUp(deadline));
    if (isRevoked || generation === this.generation) this.setRevocation(tokenId, isRevoked, expiresAt, now);
    return isRevoked;
  }

  /** The user of a person; management registers them on the first call. */
  async userOf(person: PersonOfIssuer, deadline: number): Promise<string> {
    const { issuer, subject, email, emailVerified, name } = person;
    const key = JSON.stringify([issuer, subject, email, emailVerified, name]);
    const known = this.users.get(key);
    if (known !== undefined) return known;
    const { userId } = await this.services.call(admitUser, { body: person }, lookUp(deadline));
    this.users.set(key, userId);
    return userId;
  }

  /** Roles of a tenant's member; `undefined` for a user who is none, or whose tenant has ended. */
  async rolesOfMember(tenantId: string, userId: string, deadline: number): Promise<readonly Role[] | undefined> {
    const key = `${tenantId} ${userId}`;
    const known = this.members.get(key);
    if (known && Date.now() < known.until) return known.roles;
    return (await shareLookUp(this.pendingMembers, key, () => this.lookUpRoles(key, tenantId, userId, deadline))).roles;
  }

  private async lookUpRoles(key: string, tenantId: string, userId: string, deadline: number): Promise<MemberAnswer> {
    // From the question on: what is answered may have changed since then.
    const until = Date.now() + MEMBER_MS;
    const answer = await this.services.call(lookUpMember, { body: { tenantId, userId } }, lookUp(deadline));
    this.members.set(key, { ...answer, until });
    return answer;
  }

  private async lookUpHost(host: string, deadline: number): Promise<DirectoryEntry | undefined> {
    const generation = this.generation;
    const { tenant, ended } = await this.services.call(lookUpTenant, { body: { host } }, lookUp(deadline));
    if (ended) {
      const entry = this.endedEntry(host, ended);
      if (generation === this.generation) this.ended.set(host, entry);
      return entry;
    }
    const entry = tenant && this.entry(tenant);
    if (generation !== this.generation) return entry;
    if (entry) {
      this.byHost.set(host, entry);
      this.hostOf.set(entry.context.id, host);
    } else this.unknown.set(host, true);
    return entry;
  }

  private async lookUpDomain(domain: string, deadline: number): Promise<TenantContext | undefined> {
    const generation = this.generation;
    const { tenantId } = await this.services.call(lookUpCustomDomain, { body: { host: domain } }, lookUp(deadline));
    const { tenant } =
      tenantId === undefined ? {} : await this.services.call(lookUpTenant, { body: { tenantId } }, lookUp(deadline));
    const context = tenant && this.entry(tenant).context;
    if (generation !== this.generation) return context;
    if (context) {
      this.byCustomDomain.set(domain, context);
      this.customDomainOf.set(context.id, domain);
    } else this.unknown.set(domain, true);
    return context;
  }

  private entry(tenant: DirectoryTenant): DirectoryEntry {
    const baseUrl = `${this.config.publicScheme}://${tenant.host}`;
    const { tenantId: id, host, name } = tenant;
    const context: TenantContext = { id, host, baseUrl, ...(name !== undefined && { name }) };
    return {
      context,
      host: { api: 'tenant', publicUrl: baseUrl, tenant: context },
      restrictIdentityRoles: tenant.restrictIdentityRoles,
      clients: new Map(
        tenant.clients.map(({ clientId, roles, secrets }) => [clientId, { roles, ...(secrets && { secrets }) }]),
      ),
    };
  }

  private endedEntry(host: string, { tenantId, isPurged }: NonNullable<DirectoryAnswer['ended']>): DirectoryEntry {
    const entry = this.entry({ tenantId, host, restrictIdentityRoles: false, clients: [] });
    return { ...entry, host: { ...entry.host, ended: isPurged ? 'purged' : 'deleted' } };
  }

  private keepRevocation({ tokenId, expiresAt }: TokenRevokedData): void {
    this.setRevocation(tokenId, true, Date.parse(expiresAt), new Date());
  }

  private setRevocation(tokenId: string, isRevoked: boolean, expiresAt: number, now: Date): void {
    const ttl = expiresAt - now.getTime();
    if (ttl > 0) this.revocations.set(tokenId, isRevoked, { ttl });
  }

  private evict(change: { tenantId: string; host?: string; domain?: string }): void {
    for (const domain of [change.domain, this.customDomainOf.get(change.tenantId)]) {
      if (domain === undefined) continue;
      this.byCustomDomain.delete(domain);
      this.unknown.delete(domain);
    }
    this.customDomainOf.delete(change.tenantId);
    const host = change.host ?? this.hostOf.get(change.tenantId);
    this.hostOf.delete(change.tenantId);
    if (host === undefined) return;
    this.byHost.delete(host);
    this.unknown.delete(host);
  }
}

interface TokenRevokedData {
  tokenId: string;
  expiresAt: string;
}

const rolesIn = (
  { clients }: DirectoryEntry,
  { clientId, secretId }: ClientOfToken,
  now: Date,
): readonly Role[] | undefined => {
  const client = clients.get(clientId);
  if (!client || secretId === undefined || !client.secrets) return client?.roles;
  const isLive = ({ id, expiresAt }: DirectorySecret) =>
    id === secretId && (expiresAt === undefined || now.getTime() < Date.parse(expiresAt));
  return client.secrets.some(isLive) ? client.roles : undefined;
};

/** Concurrent look-ups of the same key are one. */
const shareLookUp = async <T>(
  pending: Map<string, Promise<T>>,
  key: string,
  lookUp: () => Promise<T>,
  beforeLookUp?: () => Promise<void>,
): Promise<T> => {
  await beforeLookUp?.();
  let lookup = pending.get(key);
  if (!lookup) {
    lookup = lookUp().finally(() => pending.delete(key));
    pending.set(key, lookup);
  }
  return lookup;
};

/** Without a request: concurrent calls for the same entry share one look-up. */
const lookUp = (deadline: number): CallContext => ({
  requestId: newRequestId(),
  operation: 'gateway.directory',
  deadline,
});
