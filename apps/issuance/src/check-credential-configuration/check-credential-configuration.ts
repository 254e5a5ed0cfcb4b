import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type {
  CheckConfigurationAnswer,
  CheckConfigurationRequest,
  OperationContext,
  OperationRequest,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf } from '@attestry/service-kit';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';

export class CheckCredentialConfiguration {
  constructor(
    readonly request: OperationRequest<CheckConfigurationRequest>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(CheckCredentialConfiguration)
export class CheckCredentialConfigurationHandler implements IQueryHandler<CheckCredentialConfiguration> {
  constructor(private readonly streams: Streams) {}

  async execute({ request: { body }, context }: CheckCredentialConfiguration): Promise<CheckConfigurationAnswer> {
    const stream = credentialConfigurationStream(tenantOf(context).id, body.configurationId);
    const { state } = await this.streams.load(credentialConfiguration, stream);
    return { exists: state.status === 'active' };
  }
}
