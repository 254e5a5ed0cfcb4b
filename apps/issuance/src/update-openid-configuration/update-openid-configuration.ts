import { updateOpenIdConfiguration, type ClientContext, type OpenIdConfiguration } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { HaipProfile } from '../haip/haip-profile.js';
import { changeSettings, effectiveSettings } from '../openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../openid-settings/openid-settings.state.js';

@Operation(updateOpenIdConfiguration)
export class UpdateOpenIdConfiguration {
  constructor(
    private readonly streams: Streams,
    private readonly haip: HaipProfile,
    private readonly config: PlatformConfig,
  ) {}

  async execute(
    { body }: RequestOf<typeof updateOpenIdConfiguration>,
    context: ClientContext,
  ): Promise<OpenIdConfiguration> {
    const facts = body.profile === 'haip' ? await this.haip.loadFacts(context.tenant.id) : undefined;
    const { state } = await this.streams.runDecision(
      openIdSettings,
      openIdSettingsStream(context.tenant.id),
      (settings) => changeSettings(settings, body, facts),
      eventContext(context),
    );
    return effectiveSettings(state, this.config);
  }
}
