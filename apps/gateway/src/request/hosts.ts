import { Injectable } from '@nestjs/common';
import type { TenantContext } from '@attestry/contracts';
import { PlatformConfig } from '@attestry/service-kit';
import { Directory, type HostKind, type ResolvedHost } from '../directory/directory.js';

export type { HostKind, ResolvedHost };

/** A name that could be a custom domain: with a dot, without a port, no address. */
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Finds the API that a Host header names (ADR 0056). */
@Injectable()
export class Hosts {
  private readonly fixed = new Map<string, ResolvedHost>();
  private readonly defaultPort: string;
  /** Suffixes of tenant hosts. */
  private readonly tenantEndings: readonly string[];

  constructor(
    private readonly config: PlatformConfig,
    private readonly directory: Directory,
  ) {
    this.defaultPort = config.publicScheme === 'https' ? ':443' : ':80';
    const fix = (host: string, api: HostKind) => {
      const canonical = this.normalizeHost(host);
      if (!this.fixed.has(canonical))
        this.fixed.set(canonical, { api, publicUrl: `${config.publicScheme}://${canonical}` });
    };
    fix(config.managementDomain, 'management');
    for (const environment of config.environments) fix(environment.authorizationServerDomain, 'auth');
    fix(new URL(config.contextUrl).host, 'contexts');
    // No tenant can claim it as custom domain.
    for (const { domain } of config.environments) fix(domain, 'platform');
    this.tenantEndings = config.environments.map(({ domain }) => `.${this.normalizeHost(domain)}`);
  }

  /** The API of a host; which tenant it names, if any, is not looked up. */
  apiOf(header: string | undefined): HostKind {
    return (header !== undefined && this.fixed.get(this.normalizeHost(header))?.api) || 'tenant';
  }

  /**
   * `undefined` for a host that no tenant has and the platform does not serve. A promise only where management is queried.
   * @param beforeLookUp awaited before management is queried
   * @throws AppError 503 when management does not answer
   */
  resolve(
    header: string | undefined,
    deadline: number,
    beforeLookUp?: () => Promise<void>,
  ): ResolvedHost | undefined | Promise<ResolvedHost | undefined> {
    if (!header || header.length > 300) return undefined;
    const host = this.normalizeHost(header);
    const fixed = this.fixed.get(host);
    if (fixed) return fixed;
    for (const ending of this.tenantEndings) {
      if (!host.endsWith(ending)) continue;
      const found = this.directory.tenantByHost(host, deadline, beforeLookUp);
      return found instanceof Promise ? found.then((entry) => entry?.host) : found?.host;
    }
    if (!DOMAIN.test(host)) return undefined;
    const asCustomDomain = (tenant: TenantContext | undefined): ResolvedHost | undefined =>
      tenant && { api: 'custom-domain', publicUrl: `${this.config.publicScheme}://${host}`, tenant };
    const found = this.directory.tenantByCustomDomain(host, deadline, beforeLookUp);
    return found instanceof Promise ? found.then(asCustomDomain) : asCustomDomain(found);
  }

  /** Lower case, no trailing dot, no default port. */
  private normalizeHost(header: string): string {
    let host = header.toLowerCase();
    if (host.endsWith(this.defaultPort)) host = host.slice(0, -this.defaultPort.length);
    return host.replace(/\.(?=:\d+$|$)/, '');
  }
}
