import { Injectable } from '@nestjs/common';
import { AppError, invalid, type ErrorDetail } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';
import type { CheckedEntry } from './check-credentials.js';
import { CurrentConfigurations } from './current-configurations.js';
import type { UserObject } from './map-claims.js';
import { scopeFor } from './scope.js';

/** What is known of the claims when an offer is made. */
export interface KnownClaims extends UserObject {
  /** Nothing is added before the credential is issued, unless the configuration has a claims source: a required claim must have a value. */
  areComplete?: true;
}

/** Content of an offer. */
@Injectable()
export class OfferEntries {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
  ) {}

  /** @throws AppError 400 for an id that no configuration of the tenant has, or a credential that could never be issued */
  async resolveEntries(
    tenantId: string,
    entries: readonly CheckedEntry[],
    known: KnownClaims = { claims: {} },
  ): Promise<OfferEntry[]> {
    const configurationIds = entries.map(({ configurationId }) => configurationId);
    const found = await Promise.all(configurationIds.map((id) => this.configurations.find(tenantId, id)));
    const missing = configurationIds.filter((_, index) => !found[index]);
    if (missing.length)
      throw invalid(
        ...missing.map((value) => ({
          value,
          msg: 'must be a credential configuration of this tenant',
          param: 'credentials',
          location: 'body' as const,
        })),
      );
    const details = entries.flatMap((entry, index) => this.faultsOf(entry, index, found[index]!, known));
    if (details.length) throw invalid(...details);
    return found.map((configuration) => ({
      credentialConfigurationId: configuration!.id,
      scope: scopeFor(configuration!),
    }));
  }

  /** The first fault of each credential of an entry. */
  private faultsOf(
    { claimSets }: CheckedEntry,
    index: number,
    configuration: ActiveConfiguration,
    known: KnownClaims,
  ): ErrorDetail[] {
    // It may replace any claim but those of claim sets, and add others.
    if (configuration.content.claimSourceId !== undefined) return [];
    const faultIn = (param: string, claims: Record<string, unknown>): ErrorDetail[] => {
      const fault = this.faultOf(configuration, { ...known, claims });
      const msg = `must fit credential configuration ${configuration.id}: ${fault}`;
      return fault === undefined ? [] : [{ msg, param, location: 'body' }];
    };
    if (claimSets.length === 0) return faultIn('claims', known.claims);
    return claimSets.flatMap(({ claims }, set) =>
      faultIn(`credentials.${index}.claimSets.${set}.claims`, { ...known.claims, ...claims }),
    );
  }

  private faultOf(configuration: ActiveConfiguration, known: KnownClaims): string | undefined {
    const format = this.formats.byName[configuration.format];
    const fault = format.claimsFaultOf?.(configuration, known);
    if (fault !== undefined || !known.areComplete) return fault;
    try {
      // As when it is issued.
      format.mapClaims(configuration, known);
      return undefined;
    } catch (error) {
      if (error instanceof AppError && error.code === 'credential_request_denied') return error.message;
      throw error;
    }
  }
}
