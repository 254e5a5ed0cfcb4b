import { Inject } from '@nestjs/common';
import {
  configurationOperationOf,
  type ClientContext,
  type ConfigurationOperations,
  type ConfigurationRecord,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { NamedSources } from '../../claims/claim-sources/named-sources.js';
import { checkRequest, requestedDid } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
import { PublishedSizes } from '../../issuer/published-size/published-size.js';
import {
  activeConfiguration,
  replaceConfigurationContent,
} from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { readKeyRequirements } from '../configuration-checks/key-requirements.js';
import { SavedConfigurations } from '../configuration-checks/saved-configurations.js';

@Operation(...configurationOperationOf('update'))
export class UpdateCredentialConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly sources: NamedSources,
    private readonly sizes: PublishedSizes,
    private readonly issuerSigners: IssuerSigners,
    private readonly saved: SavedConfigurations,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<ConfigurationOperations['update']>,
    context: ClientContext,
  ): Promise<ConfigurationRecord> {
    const { body, params } = request;
    const module = this.formats.ofCall(context);
    const { format } = module;
    const { id: tenantId, baseUrl } = context.tenant;
    const stream = credentialConfigurationStream(tenantId, params.id);
    const loaded = await this.streams.load(credentialConfiguration, stream);
    const configuration = activeConfiguration(loaded.state, format);
    const { content: current } = configuration;
    checkRequest(module, body);
    const { did: issuerDid, member } = requestedDid(module, body);
    const change = { format, type: body.type, issuerDid, member };
    // Before anything is fetched or published for a request that is refused.
    replaceConfigurationContent(loaded.state, { ...change, content: current });
    await this.sources.check(tenantId, body);
    const keys = await readKeyRequirements(body, this.clock.now(), current);
    const content = { ...(await module.contentOf(body, current, context)), ...keys };
    const replacing = { ...configuration, content };
    await this.sizes.check(tenantId, replacing, configuration);
    // The configuration may be of a release in which only some formats made the signer, or the tenant's address may have changed.
    await this.issuerSigners.ensure(tenantId, baseUrl, eventContext(context));
    const series = await this.saved.seriesOf(module, replacing, context, current);
    const replaced = { ...change, content };
    return this.saved.replace(module, params.id, loaded, replaced, series, context);
  }
}
