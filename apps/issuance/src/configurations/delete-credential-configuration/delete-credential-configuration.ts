import { Inject } from '@nestjs/common';
import { configurationOperationOf, type ClientContext, type ConfigurationOperations } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import {
  eventContext,
  LOGGER,
  Operation,
  PlatformConfig,
  requestFields,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  deleteCredentialConfiguration,
} from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { IssuerKeys } from '../issuer-keys/issuer-keys.js';
import { TypeClaims } from '../type-claims/type-claims.js';
import { Formats } from '../../formats/formats.js';

/**
 * Releases the type and the issuer's DID. A type that stays claimed can be taken over at once; a DID that stays reserved is released by the
 * reaction `issuance.release-issuer-keys`.
 */
@Operation(...configurationOperationOf('delete'))
export class DeleteCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly types: TypeClaims,
    private readonly formats: Formats,
    private readonly issuerKeys: IssuerKeys,
    private readonly configurations: ConfigurationsReadModel,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute({ params }: RequestOf<ConfigurationOperations['delete']>, context: ClientContext): Promise<void> {
    const { format, sharesTypesWith = format } = this.formats.ofCall(context);
    const tenantId = context.tenant.id;
    const stream = credentialConfigurationStream(tenantId, params.id);
    const loaded = await this.streams.load(credentialConfiguration, stream);
    const { id, type, issuerKey } = activeConfiguration(loaded.state, format);
    const deleted = await this.streams.decideOn(
      credentialConfiguration,
      stream,
      loaded,
      (state) => deleteCredentialConfiguration(state, { format }),
      eventContext(context),
    );
    const { requestId, operation, traceparent } = context;
    const release = { requestId, operation, deadline: Date.now() + this.config.ownWriteMs };
    await Promise.all([
      this.types.release({ tenantId, format: sharesTypesWith, type, owner: id }, context),
      issuerKey &&
        this.issuerKeys
          .release(
            tenantId,
            { did: issuerKey.did, configurationId: id },
            { ...release, ...(traceparent !== undefined && { traceparent }) },
          )
          .catch((error: unknown) =>
            this.logger.info({ ...requestFields(context), error: String(error) }, 'issuer key not released yet'),
          ),
      this.configurations.running.ownWrite(deleted.position),
    ]);
  }
}
