import { retrieveStatusListConfiguration, type ClientContext, type StatusListConfiguration } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { requireConfiguration } from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';

@Operation(retrieveStatusListConfiguration)
export class RetrieveStatusListConfiguration {
  constructor(private readonly streams: Streams) {}

  async execute(
    { params }: RequestOf<typeof retrieveStatusListConfiguration>,
    { tenant }: ClientContext,
  ): Promise<StatusListConfiguration> {
    const { state } = await this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenant.id));
    return requireConfiguration(state, params.id);
  }
}
