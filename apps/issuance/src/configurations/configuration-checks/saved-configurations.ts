import { Injectable } from '@nestjs/common';
import type { ClientContext, ConfigurationRecord, Warning } from '@attestry/contracts';
import { Streams, type Decided, type Loaded } from '@attestry/event-store';
import { eventContext } from '@attestry/service-kit';
import type { Format } from '../../formats/format.js';
import { hasStatus, statusSeriesOf } from '../../formats/status-series.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { ConfigurationsReadModel } from '../../settings/credential-configuration/configurations.read-model.js';
import {
  activeConfiguration,
  createCredentialConfiguration,
  replaceConfigurationContent,
  type ActiveConfiguration,
} from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../../settings/credential-configuration/credential-configuration.events.js';
import {
  credentialConfiguration,
  credentialConfigurationStream,
  type CredentialConfigurationState,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { Formats } from '../../formats/formats.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import type { ListSeries } from '../../status-lists/status-list/list-series.js';
import { StatusIndexes } from '../../status-lists/status-list/status-indexes.js';
import { attestationWarnings } from './attestation-warning.js';

type Described = Pick<ActiveConfiguration, 'type' | 'content' | 'issuerKey'>;

/** Configurations that are created or changed, with the status lists of their credentials. */
@Injectable()
export class SavedConfigurations {
  constructor(
    private readonly streams: Streams,
    private readonly statusIndexes: StatusIndexes,
    private readonly names: IssuerNames,
    private readonly configurations: ConfigurationsReadModel,
    private readonly published: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  /**
   * The series of lists with the status of the credentials, where it is known.
   * @param replaced content before the change
   * @throws AppError when no lists can be opened for it
   */
  async seriesOf(
    { resources }: Format,
    described: Described,
    { tenant }: ClientContext,
    replaced?: ConfigurationContent,
  ): Promise<ListSeries | undefined> {
    const series = statusSeriesOf(resources, described, await this.names.current(tenant));
    // Without a series, the credentials open lists that an earlier content has not counted.
    if (hasStatus(resources, described.content) && (series || !replaced || !hasStatus(resources, replaced)))
      await this.statusIndexes.checkSeries(tenant, series);
    return series;
  }

  async create(
    module: Format,
    created: Parameters<typeof createCredentialConfiguration>[1],
    series: ListSeries | undefined,
    context: ClientContext,
    ofKey: readonly Warning[],
  ): Promise<ConfigurationRecord> {
    const decided = await this.streams.runDecision(
      credentialConfiguration,
      credentialConfigurationStream(context.tenant.id, created.id),
      (state) => createCredentialConfiguration(state, created),
      eventContext(context),
      { once: true },
    );
    return this.recordOf(module, decided, series, context, ofKey);
  }

  async replace(
    module: Format,
    id: string,
    loaded: Loaded<CredentialConfigurationState>,
    change: Parameters<typeof replaceConfigurationContent>[1],
    series: ListSeries | undefined,
    context: ClientContext,
  ): Promise<ConfigurationRecord> {
    const decided = await this.streams.decideOn(
      credentialConfiguration,
      credentialConfigurationStream(context.tenant.id, id),
      loaded,
      (state) => replaceConfigurationContent(state, change),
      eventContext(context),
    );
    return this.recordOf(module, decided, series, context);
  }

  private async recordOf(
    module: Format,
    { state, position }: Pick<Decided<CredentialConfigurationState, never>, 'state' | 'position'>,
    series: ListSeries | undefined,
    { tenant }: ClientContext,
    ofKey: readonly Warning[] = [],
  ): Promise<ConfigurationRecord> {
    if (series) await this.statusIndexes.openSeries(tenant, series);
    await this.configurations.running.ownWrite(position);
    const saved = activeConfiguration(state, module.format);
    const ofProofs = attestationWarnings(this.formats.byName, saved, await this.published.listActive(tenant.id));
    const warnings = [...ofKey, ...ofProofs];
    return { ...module.recordOf(saved), ...(warnings.length > 0 && { warnings }) };
  }
}
