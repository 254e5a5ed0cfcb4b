import { Inject } from '@nestjs/common';
import {
  jwtVcConfigurations,
  releaseIssuerKey,
  reserveIssuerKey,
  webSemanticConfigurations,
  type ClientContext,
  type ContextOf,
  type JwtVcConfiguration,
} from '@attestry/contracts';
import { EventStoreUnavailable, Streams, type Clock, type Ids } from '@attestry/event-store';
import {
  CLOCK,
  eventContext,
  idFor,
  IDS,
  LOGGER,
  Operation,
  requestFields,
  ServiceClient,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { TenantContexts } from '../contexts/tenant-contexts.js';
import { ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  ALGORITHMS_OF,
  checkConfiguration,
  configurationRecord,
  contentOf,
  createCredentialConfiguration,
  trialOf,
} from '../credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { formatOf } from '../credential-configuration/variant.js';
import { TypeClaims, type TypeOwner } from '../credential-configuration/type-claims.js';

/**
 * Three streams and no transaction: the type's claim, the DID's reservation, then the configuration. When it is interrupted in between, the
 * claim can be taken over and dids finds that the reservation's configuration does not exist.
 */
@Operation(webSemanticConfigurations.create, jwtVcConfigurations.create)
export class CreateCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly types: TypeClaims,
    private readonly contexts: TenantContexts,
    private readonly client: ServiceClient,
    private readonly configurations: ConfigurationsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute(
    { body }: RequestOf<typeof webSemanticConfigurations.create>,
    context: ContextOf<typeof webSemanticConfigurations.create>,
  ): Promise<JwtVcConfiguration> {
    const format = formatOf(context);
    const tenantId = context.tenant.id;
    checkConfiguration(body, format);
    const owner: TypeOwner = { tenantId, format, type: body.type, owner: idFor(context, 'configuration', this.ids) };
    await this.types.refuseTakenType(owner);
    const pinned =
      format === 'ldp_vc' ? await this.contexts.pin(body.contexts ?? [], [], trialOf(body), eventContext(context)) : [];
    const { did, verificationMethod, kmsKeyId, algorithm } = await this.client.call(
      reserveIssuerKey,
      { body: { algorithms: ALGORITHMS_OF[format], configurationId: owner.owner, did: body.issuerDid } },
      context,
    );
    try {
      await this.types.claim(owner, context);
      const created = await this.streams.runDecision(
        credentialConfiguration,
        credentialConfigurationStream(tenantId, owner.owner),
        (state) =>
          createCredentialConfiguration(state, {
            id: owner.owner,
            format,
            type: body.type,
            issuerKey: { did, verificationMethod, kmsKeyId, algorithm },
            content: contentOf(body, pinned),
            createdAt: this.clock.now(),
          }),
        eventContext(context),
        { once: true },
      );
      await this.configurations.running.ownWrite(created.position);
      return configurationRecord(activeConfiguration(created.state, format));
    } catch (error) {
      // When the store failed, the configuration may still exist: then its claim and reservation must stay, also those of an earlier
      // attempt of this call.
      if (!(error instanceof EventStoreUnavailable) && !context.idempotentCall?.resumed)
        await this.giveBack(owner, did, context);
      throw error;
    }
  }

  /** Best effort: both are repaired later, and the caller must get the first error. */
  private async giveBack(owner: TypeOwner, did: string, context: ClientContext): Promise<void> {
    const released = await Promise.allSettled([
      this.types.release(owner, context),
      this.client.call(
        releaseIssuerKey,
        { body: { tenantId: owner.tenantId, did, configurationId: owner.owner } },
        context,
      ),
    ]);
    for (const outcome of released)
      if (outcome.status === 'rejected')
        this.logger.warn(
          { ...requestFields(context), cause: String(outcome.reason) },
          'claims not released after a refused creation',
        );
  }
}
