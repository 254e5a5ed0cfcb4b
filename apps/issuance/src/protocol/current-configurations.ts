import { Injectable } from '@nestjs/common';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
  type CredentialConfigurationState,
} from '../credential-configuration/credential-configuration.state.js';
import { RecentStates } from '../recent-states/recent-states.js';

/** Active configurations for the wallet endpoints, at most a second old. */
@Injectable()
export class CurrentConfigurations {
  constructor(private readonly recent: RecentStates) {}

  /** `undefined` when the tenant does not have such a configuration. */
  async find(tenantId: string, id: string): Promise<ActiveConfiguration | undefined> {
    const stream = credentialConfigurationStream(tenantId, id);
    const state = await this.recent.load(credentialConfiguration, stream, isActive);
    return isActive(state) ? state : undefined;
  }
}

const isActive = (state: CredentialConfigurationState): state is ActiveConfiguration => state.status === 'active';
