import { Inject } from '@nestjs/common';
import {
  configurationOperationOf,
  releaseIssuerKey,
  reserveIssuerKey,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
  type ContextOf,
  type ReserveIssuerKeyRequest,
  type Warning,
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
import { NamedSources } from '../../claims/claim-sources/named-sources.js';
import { attestationWarnings } from '../configuration-checks/attestation-warning.js';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  createCredentialConfiguration,
} from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { PinnedIssuerKey } from '../../settings/credential-configuration/credential-configuration.events.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { readKeyRequirements } from '../configuration-checks/key-requirements.js';
import { TypeClaims, type TypeOwner } from '../type-claims/type-claims.js';
import { checkRequest, requestedDid, type SignerPolicy } from '../../formats/format.js';
import { PublishedSizes } from '../../issuer/published-size/published-size.js';
import { Formats } from '../../formats/formats.js';
import { hasStatus, statusSeriesOf } from '../../formats/status-series.js';
import { EncryptionKeys } from '../../certificates/encryption-keys/encryption-keys.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { StatusIndexes } from '../../status-lists/status-list/status-indexes.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';

const ANY_ALGORITHM: PinnedIssuerKey['algorithm'][] = ['P-256', 'Ed25519'];

const UNPUBLISHED =
  'is on the verified domain of the tenant, but its DID document was not found there: credentials cannot be verified before it is published';

/**
 * Three streams and no transaction: the type's claim, the DID's reservation, then the configuration. When it is interrupted in between, the
 * claim can be taken over and dids finds that the reservation's configuration does not exist.
 */
@Operation(...configurationOperationOf('create'))
export class CreateCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly types: TypeClaims,
    private readonly formats: Formats,
    private readonly issuerSigners: IssuerSigners,
    private readonly encryptionKeys: EncryptionKeys,
    private readonly statusIndexes: StatusIndexes,
    private readonly names: IssuerNames,
    private readonly sources: NamedSources,
    private readonly sizes: PublishedSizes,
    private readonly client: ServiceClient,
    private readonly configurations: ConfigurationsReadModel,
    private readonly published: PublishedConfigurations,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute(
    { body }: RequestOf<ConfigurationOperations['create']>,
    context: ContextOf<ConfigurationOperations['create']>,
  ): Promise<ConfigurationRecord> {
    const module = this.formats.ofCall(context);
    const { format, resources, sharesTypesWith = format } = module;
    const tenantId = context.tenant.id;
    checkRequest(module, body);
    await this.sources.check(tenantId, body);
    const id = idFor(context, 'configuration', this.ids);
    const owner: TypeOwner = { tenantId, format: sharesTypesWith, type: body.type, owner: id };
    await this.types.refuseTakenType(owner);
    const keys = await readKeyRequirements(body, this.clock.now());
    const content = { ...(await module.contentOf(body, undefined, context)), ...keys };
    const signer = module.signerOf?.(body) ?? resources.signer;
    // For every format: the signer also signs the issuer metadata.
    await this.issuerSigners.ensure(tenantId, context.tenant.baseUrl, eventContext(context));
    await this.encryptionKeys.ensure(tenantId, eventContext(context));
    const requested = requestedDid(module, body);
    const { issuerKey, warnings: ofKey = [] } = await this.reserveKey(signer, id, requested, context);
    const createdAt = this.clock.now();
    try {
      const described = { format, type: body.type, ...(issuerKey && { issuerKey }), content };
      await this.sizes.check(tenantId, {
        ...described,
        ...{ status: 'active', id, createdAt: createdAt.toISOString(), version: 1 },
      });
      const series = statusSeriesOf(resources, described, await this.names.current(context.tenant));
      if (hasStatus(resources, content)) await this.statusIndexes.checkSeries(context.tenant, series);
      await this.types.claim(owner, context);
      const created = await this.streams.runDecision(
        credentialConfiguration,
        credentialConfigurationStream(tenantId, id),
        (state) =>
          createCredentialConfiguration(state, {
            id,
            format,
            type: body.type,
            issuerKey,
            content,
            createdAt,
          }),
        eventContext(context),
        { once: true },
      );
      if (series) await this.statusIndexes.openSeries(context.tenant, series);
      await this.configurations.running.ownWrite(created.position);
      const made = activeConfiguration(created.state, format);
      const warnings = [...ofKey, ...attestationWarnings(module, made, await this.published.listActive(tenantId))];
      return { ...module.recordOf(made), ...(warnings.length > 0 && { warnings }) };
    } catch (error) {
      // When the store failed, the configuration may still exist: then its claim and reservation must stay, also those of an earlier
      // attempt of this call.
      if (!(error instanceof EventStoreUnavailable) && !context.idempotentCall?.resumed)
        await this.giveBack(owner, issuerKey?.did, context);
      throw error;
    }
  }

  /** Where a certificate's key signs, only the DID that the request names. */
  private async reserveKey(
    signer: SignerPolicy,
    configurationId: string,
    requested: Pick<ReserveIssuerKeyRequest, 'did' | 'member'>,
    context: ClientContext,
  ): Promise<{ issuerKey?: PinnedIssuerKey; warnings?: Warning[] }> {
    if (signer.kind !== 'pinnedKey' && requested.did === undefined) return {};
    const { algorithms, method } =
      signer.kind === 'pinnedKey' ? signer : { algorithms: ANY_ALGORITHM, method: undefined };
    const body = { algorithms, method, configurationId, ...requested };
    const { did, verificationMethod, kmsKeyId, algorithm, isUnpublished } = await this.client.call(
      reserveIssuerKey,
      { body },
      context,
    );
    const issuerKey = { did, verificationMethod, kmsKeyId, algorithm };
    const param = requested.member ?? 'issuerDid';
    return { issuerKey, ...(isUnpublished && { warnings: [{ param, msg: UNPUBLISHED }] }) };
  }

  /** Best effort: both are repaired later, and the caller must get the first error. */
  private async giveBack(owner: TypeOwner, did: string | undefined, context: ClientContext): Promise<void> {
    const released = await Promise.allSettled([
      this.types.release(owner, context),
      did !== undefined &&
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
