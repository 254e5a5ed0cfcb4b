import { Injectable } from '@nestjs/common';
import { invalid } from '@attestry/contracts';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';
import { CurrentConfigurations } from './current-configurations.js';
import { scopeFor } from './scope.js';

/** What an offer holds. */
@Injectable()
export class OfferEntries {
  constructor(private readonly configurations: CurrentConfigurations) {}

  /** @throws AppError 400 for what is no configuration of the tenant */
  async of(tenantId: string, configurationIds: readonly string[]): Promise<OfferEntry[]> {
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
    return found.map((configuration) => ({
      credentialConfigurationId: configuration!.id,
      scope: scopeFor(configuration!),
    }));
  }
}
