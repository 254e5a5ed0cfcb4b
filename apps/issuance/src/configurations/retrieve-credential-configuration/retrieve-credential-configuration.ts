import {
  configurationOperationOf,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { activeConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { Formats } from '../../formats/formats.js';

@Operation(...configurationOperationOf('retrieve'))
export class RetrieveCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
  ) {}

  async execute(
    { params }: RequestOf<ConfigurationOperations['retrieve']>,
    context: ClientContext,
  ): Promise<ConfigurationRecord> {
    const stream = credentialConfigurationStream(context.tenant.id, params.id);
    const { state } = await this.streams.load(credentialConfiguration, stream);
    const module = this.formats.ofCall(context);
    return module.recordOf(activeConfiguration(state, module.format));
  }
}
