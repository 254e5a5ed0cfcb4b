import {
  jwtVcConfigurations,
  webSemanticConfigurations,
  type ClientContext,
  type JwtVcConfiguration,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { TenantContexts } from '../contexts/tenant-contexts.js';
import { ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  checkConfiguration,
  configurationRecord,
  contentOf,
  replaceConfigurationContent,
  trialOf,
} from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { formatOf } from '../credential-configuration/variant.js';

@Operation(webSemanticConfigurations.update, jwtVcConfigurations.update)
export class UpdateCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly contexts: TenantContexts,
    private readonly configurations: ConfigurationsReadModel,
  ) {}

  async execute(
    request: RequestOf<typeof webSemanticConfigurations.update>,
    context: ClientContext,
  ): Promise<JwtVcConfiguration> {
    const { body, params } = request;
    const format = formatOf(context);
    const stream = credentialConfigurationStream(context.tenant.id, params.id);
    const loaded = await this.streams.load(credentialConfiguration, stream);
    const { content } = activeConfiguration(loaded.state, format);
    checkConfiguration(body, format);
    // A pinned address keeps its document: issued and future credentials read the same.
    const pinned =
      format === 'ldp_vc'
        ? await this.contexts.pin(body.contexts ?? [], content.contexts, trialOf(body), eventContext(context))
        : [];
    const replaced = await this.streams.decideOn(
      credentialConfiguration,
      stream,
      loaded,
      (state) =>
        replaceConfigurationContent(state, {
          format,
          type: body.type,
          issuerDid: body.issuerDid,
          content: contentOf(body, pinned),
        }),
      eventContext(context),
    );
    await this.configurations.running.ownWrite(replaced.position);
    return configurationRecord(activeConfiguration(replaced.state, format));
  }
}
