import { Injectable } from '@nestjs/common';
import type { Environment } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { PlatformConfig } from '@attestry/service-kit';
import { subdomain } from '../tenant/subdomain.claim.js';
import { tenant, tenantStream, type ActiveTenant } from '../tenant/tenant.state.js';
import { canonicalHost, splitTenantHost, tenantHost } from './hosts.js';

export interface TenantEntry {
  tenant: ActiveTenant;
  environment: Environment;
  /** Canonical. */
  host: string;
}

/** Tenants by host and by id, read from their streams, never stale: the gateway queries it on a cache miss (ADR 0056). */
@Injectable()
export class TenantDirectory {
  constructor(
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
  ) {}

  environment(id: string): Environment | undefined {
    return this.config.environments.find((environment) => environment.id === id);
  }

  /** A tenant's host follows from its environment's present configuration; `host` is the one at creation. */
  hostOf({ environmentId, subdomain, host }: Pick<ActiveTenant, 'environmentId' | 'subdomain' | 'host'>): string {
    const environment = this.environment(environmentId);
    return environment ? this.canonical(tenantHost(subdomain, environment)) : host;
  }

  /** `host` canonical. Host, then claim, then the tenant that holds the claim. */
  async byHost(host: string): Promise<TenantEntry | undefined> {
    const id = await this.ownerOf(host);
    return id === undefined ? undefined : this.byId(id);
  }

  /** The deleted tenant that had a host. */
  async endedByHost(host: string): Promise<{ tenantId: string; isPurged: boolean } | undefined> {
    const tenantId = await this.ownerOf(host);
    if (tenantId === undefined) return undefined;
    const { status } = (await this.streams.load(tenant, tenantStream(tenantId))).state;
    return status === 'deleted' || status === 'purged' ? { tenantId, isPurged: status === 'purged' } : undefined;
  }

  /** The claim outlives its tenant. */
  private async ownerOf(host: string): Promise<string | undefined> {
    const named = splitTenantHost(host, this.config.environments, this.config.publicScheme);
    if (!named) return undefined;
    const claim = (await this.streams.load(subdomain, subdomain.stream(named.environment.id, named.subdomain))).state;
    return claim.status === 'claimed' ? claim.owner : undefined;
  }

  async byId(tenantId: string): Promise<TenantEntry | undefined> {
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    if (state.status !== 'active') return undefined;
    const environment = this.environment(state.environmentId);
    return environment && { tenant: state, environment, host: this.hostOf(state) };
  }

  private canonical(host: string): string {
    return canonicalHost(host, this.config.publicScheme) ?? host;
  }
}
