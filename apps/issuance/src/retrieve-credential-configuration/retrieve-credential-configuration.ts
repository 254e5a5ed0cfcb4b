import {
  jwtVcConfigurations,
  webSemanticConfigurations,
  type ClientContext,
  type JwtVcConfiguration,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import {
  activeConfiguration,
  configurationRecord,
} from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { formatOf } from '../credential-configuration/variant.js';

@Operation(webSemanticConfigurations.retrieve, jwtVcConfigurations.retrieve)
export class RetrieveCredentialConfiguration {
  constructor(private readonly streams: Streams) {}

  async execute(
    { params }: RequestOf<typeof webSemanticConfigurations.retrieve>,
    context: ClientContext,
  ): Promise<JwtVcConfiguration> {
    const stream = credentialConfigurationStream(context.tenant.id, params.id);
    const { state } = await this.streams.load(credentialConfiguration, stream);
    return configurationRecord(activeConfiguration(state, formatOf(context)));
  }
}
