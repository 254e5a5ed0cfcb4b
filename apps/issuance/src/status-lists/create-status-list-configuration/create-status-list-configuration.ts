import { Inject } from '@nestjs/common';
import { createStatusListConfiguration, type ContextOf, type StatusListConfiguration } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { eventContext, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import {
  createConfiguration,
  durationsOf,
  requireConfiguration,
} from '../status-list-configurations/status-list-configurations.decisions.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';

@Operation(createStatusListConfiguration)
export class CreateStatusListConfiguration {
  constructor(
    private readonly streams: Streams,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createStatusListConfiguration>,
    context: ContextOf<typeof createStatusListConfiguration>,
  ): Promise<StatusListConfiguration> {
    const id = idFor(context, 'status list configuration', this.ids);
    const { state } = await this.streams.runDecision(
      statusListConfigurations,
      statusListConfigurationsStream(context.tenant.id),
      (before) => createConfiguration(before, { id, docType: body.docType, ...durationsOf(body) }),
      eventContext(context),
      { once: true },
    );
    return requireConfiguration(state, id);
  }
}
