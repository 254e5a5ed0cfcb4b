import { given, stateAfter } from '@attestry/event-store';
import { changeSettings, effectiveSettings } from './openid-settings.decisions.js';
import type { OpenIdSettingsChanged } from './openid-settings.events.js';
import { openIdSettings } from './openid-settings.state.js';

const changed = (data: OpenIdSettingsChanged['data']): OpenIdSettingsChanged => ({
  type: 'OpenIdSettingsChanged',
  data,
});
const ON = changed({ allowUnregisteredWallets: true });

describe('the settings of the OID4VCI endpoints', () => {
  it('change as a request names them; null resets, and an unchanged value is no event [T217]', () => {
    given(openIdSettings, [])
      .when((settings) => changeSettings(settings, { allowUnregisteredWallets: true }))
      .then([ON]);
    given(openIdSettings, [ON])
      .when((settings) => changeSettings(settings, { allowUnregisteredWallets: null }))
      .then([changed({ allowUnregisteredWallets: null })]);
    for (const [events, wanted] of [
      [[ON], { allowUnregisteredWallets: true }],
      [[ON], {}],
      [[ON], { allowUnregisteredWallets: undefined }],
      [[], { allowUnregisteredWallets: null }],
    ] as [OpenIdSettingsChanged[], OpenIdSettingsChanged['data']][])
      given(openIdSettings, events)
        .when((settings) => changeSettings(settings, wanted))
        .then([]);
    expect(stateAfter(openIdSettings, [ON, changed({ allowUnregisteredWallets: null })])).toEqual({});
  });

  it('are shown with their defaults [T217]', () => {
    for (const nodeEnv of ['development', 'test', 'production'])
      expect(effectiveSettings({}, { nodeEnv })).toEqual({
        allowUnregisteredWallets: nodeEnv !== 'production',
        dpopNonceRequired: false,
      });
    for (const allowUnregisteredWallets of [true, false])
      for (const nodeEnv of ['development', 'production'])
        expect(effectiveSettings({ allowUnregisteredWallets }, { nodeEnv })).toMatchObject({ allowUnregisteredWallets });
  });
});
