import { Inject } from '@nestjs/common';
import {
  configurationOperationOf,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { NamedSources } from '../../claims/claim-sources/named-sources.js';
import { attestationWarnings } from '../configuration-checks/attestation-warning.js';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  replaceConfigurationContent,
} from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { readKeyRequirements } from '../configuration-checks/key-requirements.js';
import { checkRequest, requestedDid } from '../../formats/format.js';
import { PublishedSizes } from '../../issuer/published-size/published-size.js';
import { Formats } from '../../formats/formats.js';
import { hasStatus, statusSeriesOf } from '../../formats/status-series.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { StatusIndexes } from '../../status-lists/status-list/status-indexes.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';

@Operation(...configurationOperationOf('update'))
export class UpdateCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly statusIndexes: StatusIndexes,
    private readonly names: IssuerNames,
    private readonly configurations: ConfigurationsReadModel,
    private readonly published: PublishedConfigurations,
    private readonly issuerSigners: IssuerSigners,
    private readonly sources: NamedSources,
    private readonly sizes: PublishedSizes,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<ConfigurationOperations['update']>,
    context: ClientContext,
  ): Promise<ConfigurationRecord> {
    const { body, params } = request;
    const module = this.formats.ofCall(context);
    const { format } = module;
    const stream = credentialConfigurationStream(context.tenant.id, params.id);
    const loaded = await this.streams.load(credentialConfiguration, stream);
    const configuration = activeConfiguration(loaded.state, format);
    const { content: current } = configuration;
    checkRequest(module, body);
    const { did: issuerDid, member } = requestedDid(module, body);
    const change = { format, type: body.type, issuerDid, member };
    // Before anything is fetched or published for a request that is refused.
    replaceConfigurationContent(loaded.state, { ...change, content: current });
    await this.sources.check(context.tenant.id, body);
    const keys = await readKeyRequirements(body, this.clock.now(), current);
    const content = { ...(await module.contentOf(body, current, context)), ...keys };
    await this.sizes.check(context.tenant.id, { ...configuration, content }, configuration);
    // The configuration may be of a release in which only some formats made the signer, or the tenant's address may have changed.
    await this.issuerSigners.ensure(context.tenant.id, context.tenant.baseUrl, eventContext(context));
    const issuer = await this.names.current(context.tenant);
    const series = statusSeriesOf(module.resources, { ...configuration, content }, issuer);
    // Without a series, the credentials open lists that an earlier content has not counted.
    if (hasStatus(module.resources, content) && (series || !hasStatus(module.resources, current)))
      await this.statusIndexes.checkSeries(context.tenant, series);
    const replaced = await this.streams.decideOn(
      credentialConfiguration,
      stream,
      loaded,
      (state) => replaceConfigurationContent(state, { ...change, content }),
      eventContext(context),
    );
    if (series) await this.statusIndexes.openSeries(context.tenant, series);
    await this.configurations.running.ownWrite(replaced.position);
    const after = activeConfiguration(replaced.state, format);
    const warnings = attestationWarnings(module, after, await this.published.listActive(context.tenant.id));
    return { ...module.recordOf(after), ...(warnings.length > 0 && { warnings }) };
  }
}
