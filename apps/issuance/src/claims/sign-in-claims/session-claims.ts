import { Injectable } from '@nestjs/common';
import { oauthError } from '@attestry/contracts';
import type { ClaimSets } from '../claim-sets/claim-sets.js';
import { describeClaimFault, type ClaimFault } from '../../formats/claim-faults.decisions.js';
import { Formats } from '../../formats/formats.js';
import type { OfferEntry } from '../../sessions/issuance-session/issuance-session.events.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';

type Claims = Record<string, unknown>;

/** Claims of a sign-in, checked before the wallet gets its code (ADR 0099). */
@Injectable()
export class SessionClaims {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
  ) {}

  /**
   * Without the user's own, which may still be replaced, and without default values, which were checked with their configuration. A request with a
   * credential that can be issued continues.
   * @throws AppError `access_denied` with the claim, where every requested credential would be denied
   */
  async check(
    tenantId: string,
    entries: readonly OfferEntry[],
    claims: Claims,
    claimSets: ClaimSets | undefined,
  ): Promise<void> {
    if (Object.keys(claims).length === 0) return;
    let first: ClaimFault | undefined;
    for (const { credentialConfigurationId: id } of entries)
      for (const claimSet of setsOf(id, claimSets)) {
        const fault = await this.faultOf(tenantId, id, claims, claimSet);
        if (!fault) return;
        first ??= fault;
      }
    if (first)
      throw oauthError('access_denied', describeClaimFault(first), { check: 'session-claims', claim: first.claim });
  }

  private async faultOf(
    tenantId: string,
    configurationId: string,
    claims: Claims,
    claimSet: Claims,
  ): Promise<ClaimFault | undefined> {
    const configuration = await this.configurations.find(tenantId, configurationId);
    if (!configuration) return undefined;
    return this.formats.byName[configuration.format].check(tenantId, configuration, {
      claims: { ...claims, ...claimSet },
      hasDefaults: false,
      ...(configuration.content.claimSourceId !== undefined && { finalClaims: new Set(Object.keys(claimSet)) }),
    });
  }
}

/** Claim sets of each credential that the configuration issues. */
const setsOf = (configurationId: string, claimSets: ClaimSets | undefined): Claims[] => {
  if (!claimSets) return [{}];
  const { identifiers, sets } = claimSets;
  const granted = identifiers.find(({ credentialConfigurationId: id }) => id === configurationId);
  return (granted?.credentialIdentifiers ?? []).map(
    (name) => sets.find(({ identifier }) => identifier === name)?.claims ?? {},
  );
};
