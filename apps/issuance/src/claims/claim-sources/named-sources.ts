import { Injectable } from '@nestjs/common';
import { invalidBody, type ConfigurationRequest } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { claimSources, claimSourcesStream } from './claim-sources.state.js';

/** Claims sources that credential configurations name. */
@Injectable()
export class NamedSources {
  constructor(private readonly streams: Streams) {}

  /** @throws AppError 400 when the tenant does not have it */
  async check(tenantId: string, { claimSourceId }: Pick<ConfigurationRequest, 'claimSourceId'>): Promise<void> {
    if (claimSourceId === undefined || claimSourceId === null) return;
    const { state } = await this.streams.load(claimSources, claimSourcesStream(tenantId));
    if (!state.some(({ id }) => id === claimSourceId))
      throw invalidBody('claimSourceId', 'must be the id of a claims source of the tenant', claimSourceId);
  }
}
