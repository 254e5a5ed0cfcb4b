import { updateStatusListConfiguration, type ClientContext, type StatusListConfiguration } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import {
  durationsOf,
  requireConfiguration,
  updateConfiguration,
} from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';

@Operation(updateStatusListConfiguration)
export class UpdateStatusListConfiguration {
  constructor(private readonly streams: Streams) {}

  async execute(
    { params, body }: RequestOf<typeof updateStatusListConfiguration>,
    context: ClientContext,
  ): Promise<StatusListConfiguration> {
    const { state } = await this.streams.runDecision(
      statusListConfigurations,
      statusListConfigurationsStream(context.tenant.id),
      (before) => updateConfiguration(before, params.id, durationsOf(body)),
      eventContext(context),
    );
    return requireConfiguration(state, params.id);
  }
}
