import { Injectable } from '@nestjs/common';
import { invalid, type ClaimMapping, type Warning } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { claimSources, claimSourcesStream } from '../claim-sources/claim-sources.state.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../../formats/formats.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import type { CheckedEntry } from './check-credentials.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import { mappingsOf, outermostClaim } from '../../formats/mapped-claims.js';
import { unusedClaims, type GivenClaims } from './unused-claims.js';

/** Claims of an offer beside those of its claim sets. */
export interface OfferedClaims {
  claims: Record<string, unknown>;
  /** Names of those that are stored with the user. */
  persisted: readonly string[];
}

/** Whether the claims of an offer are used by what is offered: by a mapping, or a parameter of a claims source. */
@Injectable()
export class ClaimUse {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly streams: Streams,
  ) {}

  /**
   * @returns a warning for each claim that nothing uses; undefined without any
   * @throws AppError 400 with the same details where the tenant has `strictClaims`
   */
  async check(
    tenantId: string,
    entries: readonly CheckedEntry[],
    offered: OfferedClaims = { claims: {}, persisted: [] },
  ): Promise<Warning[] | undefined> {
    const names = Object.keys(offered.claims);
    if (names.length === 0 && entries.every(({ claimSets }) => claimSets.length === 0)) return undefined;
    const used = await Promise.all(entries.map(({ configurationId }) => this.usedBy(tenantId, configurationId)));
    const given: GivenClaims[] = [
      {
        param: 'claims',
        names,
        used: new Set([...offered.persisted, ...used.flatMap((one) => [...one])]),
        users: 'no mapping of the credential configurations and no entry of claimsToPersist',
      },
      ...entries.flatMap(({ configurationId, claimSets }, index) =>
        claimSets.map(({ claims }, set) => ({
          param: `credentials.${index}.claimSets.${set}.claims`,
          names: Object.keys(claims),
          used: used[index]!,
          users: `no mapping of credential configuration ${configurationId}`,
        })),
      ),
    ];
    const warnings = unusedClaims(given);
    if (warnings.length === 0) return undefined;
    const { state } = await this.streams.load(openIdSettings, openIdSettingsStream(tenantId));
    if (state.strictClaims) throw invalid(...warnings.map((warning) => ({ ...warning, location: 'body' as const })));
    return warnings;
  }

  /** Names of the claims that these configurations, and the parameters of their claims sources, map. */
  async mappedClaims(tenantId: string, configurationIds: readonly string[]): Promise<string[]> {
    const used = await Promise.all(configurationIds.map((id) => this.usedBy(tenantId, id)));
    return [...new Set(used.flatMap((names) => [...names]))];
  }

  private async usedBy(tenantId: string, configurationId: string): Promise<ReadonlySet<string>> {
    const configuration = await this.configurations.find(tenantId, configurationId);
    if (!configuration) return new Set();
    const sourced = await this.parametersOf(tenantId, configuration);
    return new Set(
      [...mappingsOf(this.formats.byName[configuration.format], configuration), ...sourced].flatMap(outermostClaim),
    );
  }

  private async parametersOf(
    tenantId: string,
    { content: { claimSourceId } }: ActiveConfiguration,
  ): Promise<Pick<ClaimMapping, 'mapFrom'>[]> {
    if (claimSourceId === undefined) return [];
    const { state } = await this.streams.load(claimSources, claimSourcesStream(tenantId));
    return Object.values(state.find(({ id }) => id === claimSourceId)?.requestParameters ?? {});
  }
}
