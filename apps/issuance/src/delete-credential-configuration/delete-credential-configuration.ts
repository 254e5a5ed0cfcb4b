import { jwtVcConfigurations, webSemanticConfigurations, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  deleteCredentialConfiguration,
} from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { formatOf } from '../credential-configuration/variant.js';
import { TypeClaims } from '../credential-configuration/type-claims.js';

/** A reaction releases the issuer's DID, this handler the type; a type that stays claimed can be taken over at once. */
@Operation(webSemanticConfigurations.delete, jwtVcConfigurations.delete)
export class DeleteCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly types: TypeClaims,
    private readonly configurations: ConfigurationsReadModel,
  ) {}

  async execute({ params }: RequestOf<typeof webSemanticConfigurations.delete>, context: ClientContext): Promise<void> {
    const format = formatOf(context);
    const tenantId = context.tenant.id;
    const stream = credentialConfigurationStream(tenantId, params.id);
    const loaded = await this.streams.load(credentialConfiguration, stream);
    const { id, type } = activeConfiguration(loaded.state, format);
    const deleted = await this.streams.decideOn(
      credentialConfiguration,
      stream,
      loaded,
      (state) => deleteCredentialConfiguration(state, { format }),
      eventContext(context),
    );
    await this.types.release({ tenantId, format, type, owner: id }, context);
    await this.configurations.running.ownWrite(deleted.position);
  }
}
