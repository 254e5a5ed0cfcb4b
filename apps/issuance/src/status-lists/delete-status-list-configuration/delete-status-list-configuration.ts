import { deleteStatusListConfiguration, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { deleteConfiguration } from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';

@Operation(deleteStatusListConfiguration)
export class DeleteStatusListConfiguration {
  constructor(private readonly streams: Streams) {}

  async execute({ params }: RequestOf<typeof deleteStatusListConfiguration>, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      statusListConfigurations,
      statusListConfigurationsStream(context.tenant.id),
      (state) => deleteConfiguration(state, params.id),
      eventContext(context),
    );
  }
}
