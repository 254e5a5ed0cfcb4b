import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ConfigurationParams, JwtVcConfiguration, OperationContext, OperationRequest } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf } from '@attestry/service-kit';
import {
  activeConfiguration,
  configurationRecord,
} from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { formatOf } from '../credential-configuration/variant.js';

export class RetrieveCredentialConfiguration {
  constructor(
    readonly request: OperationRequest<unknown, ConfigurationParams>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveCredentialConfiguration)
export class RetrieveCredentialConfigurationHandler implements IQueryHandler<RetrieveCredentialConfiguration> {
  constructor(private readonly streams: Streams) {}

  async execute({ request: { params }, context }: RetrieveCredentialConfiguration): Promise<JwtVcConfiguration> {
    const stream = credentialConfigurationStream(tenantOf(context).id, params.id);
    const { state } = await this.streams.load(credentialConfiguration, stream);
    return configurationRecord(activeConfiguration(state, formatOf(context)));
  }
}
