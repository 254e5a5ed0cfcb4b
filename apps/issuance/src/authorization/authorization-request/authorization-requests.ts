import { Injectable } from '@nestjs/common';
import type { TenantContext } from '@attestry/contracts';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { AuthorizationOffers } from '../../offers/authorization-offers/authorization-offers.js';
import type { RequestedEntries } from '../../sessions/authorization-details/authorization-details.js';
import { checkTarget } from '../../sessions/authorization-details/check-target.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { checkHaipAuthorization } from '../../wallets/haip-profile/check-haip.js';
import { checkDpopParameter } from '../../wallets/registered-wallets/check-wallet.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import { parseAuthorizationRequest, type AuthorizationRequest } from './parse-authorization-request.js';
import { requestedEntries } from './requested-entries.js';

export interface CheckedRequest {
  parsed: AuthorizationRequest;
  requested: RequestedEntries;
  /** Configurations of the tenant. */
  configurations: readonly ActiveConfiguration[];
}

/** Authorization requests, OID4VCI §5: the checks of the parameters in their order, at the authorization and the PAR endpoint. */
@Injectable()
export class AuthorizationRequests {
  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly offers: AuthorizationOffers,
    private readonly wallets: TenantWallets,
    private readonly names: IssuerNames,
  ) {}

  /** @param wallet that sends `dpop_jkt`; undefined also where the parameter is the key of a DPoP proof @throws AppError 400 */
  async check(
    parameters: URLSearchParams,
    tenant: TenantContext,
    wallet: RegisteredWallet | undefined,
  ): Promise<CheckedRequest> {
    const parsed = parseAuthorizationRequest(parameters);
    await checkTarget(parsed, tenant.baseUrl, (name) => this.names.includes(tenant, name));
    checkHaipAuthorization(await this.wallets.readSettings(tenant.id), parsed);
    checkDpopParameter(wallet, parsed.dpopJkt);
    const configurations = await this.configurations.listActive(tenant.id);
    const named = requestedEntries(parsed, configurations);
    return { parsed, requested: await this.offers.restrictRequest(tenant.id, parsed, named), configurations };
  }
}
