import { retrieveOpenIdConfiguration, type ClientContext, type OpenIdConfiguration } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { effectiveSettings } from '../openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../openid-settings/openid-settings.state.js';

@Operation(retrieveOpenIdConfiguration)
export class RetrieveOpenIdConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
  ) {}

  async execute(
    _request: RequestOf<typeof retrieveOpenIdConfiguration>,
    { tenant }: ClientContext,
  ): Promise<OpenIdConfiguration> {
    const { state } = await this.streams.load(openIdSettings, openIdSettingsStream(tenant.id));
    return effectiveSettings(state, this.config);
  }
}
