import { retrieveOpenIdConfiguration, type ClientContext, type OpenIdConfiguration } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { HookSecrets } from '../../settings/openid-settings/hook-secrets.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';

@Operation(retrieveOpenIdConfiguration)
export class RetrieveOpenIdConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: HookSecrets,
  ) {}

  async execute(
    _request: RequestOf<typeof retrieveOpenIdConfiguration>,
    { tenant }: ClientContext,
  ): Promise<OpenIdConfiguration> {
    const { state } = await this.streams.load(openIdSettings, openIdSettingsStream(tenant.id));
    return this.secrets.viewOf(tenant.id, state);
  }
}
