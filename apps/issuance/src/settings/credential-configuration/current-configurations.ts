import { Injectable } from '@nestjs/common';
import type { ActiveConfiguration } from './credential-configuration.decisions.js';
import { credentialConfiguration, credentialConfigurationStream } from './credential-configuration.state.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';

/** Active configurations for the wallet endpoints, at most a second old. */
@Injectable()
export class CurrentConfigurations {
  constructor(private readonly recent: RecentStates) {}

  /** `undefined` when the tenant does not have such a configuration. */
  async find(tenantId: string, id: string): Promise<ActiveConfiguration | undefined> {
    const stream = credentialConfigurationStream(tenantId, id);
    let loaded = await this.recent.load(credentialConfiguration, stream);
    if (loaded.cached && loaded.state.status !== 'active')
      loaded = await this.recent.reload(credentialConfiguration, stream);
    return loaded.state.status === 'active' ? loaded.state : undefined;
  }
}
