import { Injectable } from '@nestjs/common';
import { invalid, invalidBody } from '@attestry/contracts';
import { Formats } from '../formats/formats.js';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';
import type { CheckedEntry } from './check-credentials.js';
import { CurrentConfigurations } from './current-configurations.js';
import { scopeFor } from './scope.js';

/** Content of an offer. */
@Injectable()
export class OfferEntries {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
  ) {}

  /**
   * `claims` are those that come with the offer.
   * @throws AppError 400 for an id that no configuration of the tenant has, or claims or a claim set that could never be issued with one
   */
  async resolveEntries(
    tenantId: string,
    entries: readonly CheckedEntry[],
    claims: Record<string, unknown> = {},
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
    for (const [index, { claimSets }] of entries.entries()) {
      const configuration = found[index]!;
      const faultOf = (all: Record<string, unknown>) =>
        this.formats.byName[configuration.format].offerFaultOf?.(configuration, all);
      if (claimSets.length === 0) {
        const fault = faultOf(claims);
        if (fault) throw invalidBody('claims', `must not make the claims of a credential ${fault}`);
      }
      for (const [set, { claims: own }] of claimSets.entries()) {
        const fault = faultOf({ ...claims, ...own });
        if (fault)
          throw invalidBody(
            `credentials.${index}.claimSets.${set}.claims`,
            `must not make the claims of the credential ${fault}`,
          );
      }
    }
    return found.map((configuration) => ({
      credentialConfigurationId: configuration!.id,
      scope: scopeFor(configuration!),
    }));
  }
}
