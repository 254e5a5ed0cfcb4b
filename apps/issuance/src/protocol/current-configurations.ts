import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';

/** How stale a configuration that another process changed may be. Own changes are seen at once. */
const MAX_AGE_MS = 1000;

/** Active configurations for the wallet endpoints, at most a second old. */
@Injectable()
export class CurrentConfigurations {
  private readonly checked = new LRUCache<string, number>({ max: 5000 });

  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** `undefined` when the tenant does not have such a configuration. */
  async find(tenantId: string, id: string): Promise<ActiveConfiguration | undefined> {
    const stream = credentialConfigurationStream(tenantId, id);
    const now = this.clock.now().getTime();
    const recent = now - (this.checked.get(stream) ?? -Infinity) < MAX_AGE_MS;
    let loaded = await this.streams.load(credentialConfiguration, stream, { cached: recent });
    // A cached state alone refuses nothing.
    if (loaded.cached && loaded.state.status !== 'active')
      loaded = await this.streams.load(credentialConfiguration, stream);
    if (!loaded.cached) this.checked.set(stream, now);
    return loaded.state.status === 'active' ? loaded.state : undefined;
  }
}
