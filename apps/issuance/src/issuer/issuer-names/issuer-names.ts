import { Injectable } from '@nestjs/common';
import type { TenantContext } from '@attestry/contracts';
import { PlatformConfig } from '@attestry/service-kit';
import { issuerHost } from '../../settings/credential-configuration/configurations-under.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import type { RequestedDetail } from '../../sessions/authorization-details/authorization-details.js';
import { checkTarget } from '../../sessions/authorization-details/check-target.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import {
  withdrawnDomains,
  withdrawnDomainsStream,
  type WithdrawnDomainsState,
} from '../../settings/withdrawn-domains/withdrawn-domains.state.js';

type Tenant = Pick<TenantContext, 'id' | 'baseUrl'>;

interface RequestedTarget {
  resources?: readonly string[];
  authorizationDetails?: readonly RequestedDetail[];
}

/** The names of a tenant as a credential issuer: its host, and its custom domain (ADR 0102). */
@Injectable()
export class IssuerNames {
  constructor(
    private readonly recent: RecentStates,
    private readonly config: PlatformConfig,
  ) {}

  /** Credential issuer identifier of a custom domain. */
  identifierOf(domain: string): string {
    return `${this.config.publicScheme}://${domain}`;
  }

  /** The identifier that new sessions and offers have; at most a second old. */
  async current({ id, baseUrl }: Tenant): Promise<string> {
    const { issuerDomain } = (await this.recent.load(openIdSettings, openIdSettingsStream(id))).state;
    return issuerDomain === undefined ? baseUrl : this.identifierOf(issuerDomain);
  }

  /**
   * Whether a wallet may name the issuer so: by the tenant's host, by its verified domain, or by the identifier that the session pinned. A
   * withdrawn domain is none of them, also where a session pinned it: another party may have it. Libraries that keep addresses in a URL type
   * add the slash of the empty path (RFC 3986 §6.2.3), which is accepted; nothing else is normalized.
   */
  async includes({ id, baseUrl }: Tenant, given: string, pinned?: string): Promise<boolean> {
    const name = given.endsWith('/') ? given.slice(0, -1) : given;
    // Without a read: nearly all wallets.
    if (name === baseUrl) return true;
    const isName = ({ verified, domains }: WithdrawnDomainsState) =>
      (verified !== undefined && name === this.identifierOf(verified)) ||
      (name === pinned && !domains.includes(issuerHost(name) ?? ''));
    const stream = withdrawnDomainsStream(id);
    return (
      isName((await this.recent.load(withdrawnDomains, stream)).state) ||
      isName((await this.recent.reload(withdrawnDomains, stream)).state)
    );
  }

  /** Checks the target of a token request, for the session that it names. @throws AppError 400 */
  checkTokenTarget(
    tenant: Tenant,
    { resources = [], authorizationDetails: details = [] }: RequestedTarget,
    session: IssuanceSessionState,
  ): Promise<void> {
    const pinned = 'issuer' in session ? session.issuer : undefined;
    return checkTarget({ resources, details }, tenant.baseUrl, (name) => this.includes(tenant, name, pinned));
  }
}
