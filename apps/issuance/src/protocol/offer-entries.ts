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
  /** Nothing is added before the credential is issued, except by a claims source: a required claim that it cannot supply must have a value. */
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
    const isSourced = configuration.content.claimSourceId !== undefined;
    const faultIn = (param: string, claimSet: Record<string, unknown>): ErrorDetail[] => {
      const fault = this.faultOf(configuration, {
        ...known,
        claims: { ...known.claims, ...claimSet },
        // Only a claim set is merged after the claims source, and authenticationProvider is no claim (ADR 0093).
        ...(isSourced && { finalClaims: new Set(Object.keys(claimSet)) }),
      });
      const msg = `must fit credential configuration ${configuration.id}: ${fault}`;
      return fault === undefined ? [] : [{ msg, param, location: 'body' }];
    };
    if (claimSets.length === 0) return faultIn('claims', {});
    return claimSets.flatMap(({ claims }, set) => faultIn(`credentials.${index}.claimSets.${set}.claims`, claims));
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
