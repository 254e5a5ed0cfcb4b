import type { AppError } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import {
  changeOfHook,
  changeSettings,
  effectiveHook,
  effectiveSettings,
  encryptionPolicy,
  needsSecret,
  resetIssuerName,
} from './openid-settings.decisions.js';
import type { OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';
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

  it('are shown with their defaults [T217] [T365]', () => {
    for (const nodeEnv of ['development', 'test', 'production'])
      expect(effectiveSettings({}, { nodeEnv })).toEqual({
        profile: 'default',
        allowUnregisteredWallets: nodeEnv !== 'production',
        requirePushedAuthorizationRequests: false,
        dpopNonceRequired: false,
        strictClaimsSources: false,
        strictClaims: false,
        deferredDays: 30,
        encryption: { enabled: true, requestRequired: false, responseRequired: false },
        issuerName: 'host',
        advertiseScopes: true,
        refreshTokenDays: 30,
      });
    for (const allowUnregisteredWallets of [true, false])
      for (const nodeEnv of ['development', 'production'])
        expect(effectiveSettings({ allowUnregisteredWallets }, { nodeEnv })).toMatchObject({
          allowUnregisteredWallets,
        });
  });
});

const after = (...data: OpenIdSettingsChanged['data'][]) =>
  given<OpenIdSettings, OpenIdSettingsChanged>(openIdSettings, data.map(changed));
const change = (data: OpenIdSettingsChanged['data']) => (state: OpenIdSettings) => changeSettings(state, data);

describe('encryption settings [T311]', () => {
  it('change only the members that are named, and null resets', () => {
    const some = after({ allowUnregisteredWallets: true, encryption: { requestRequired: true } });
    some.when(change({ encryption: { responseRequired: true } })).thenState({
      allowUnregisteredWallets: true,
      encryption: { requestRequired: true, responseRequired: true },
    });
    some.when(change({ encryption: { requestRequired: null } })).thenState({ allowUnregisteredWallets: true });
    some.when(change({ encryption: null })).thenState({ allowUnregisteredWallets: true });
    some.when(change({ allowUnregisteredWallets: null })).thenState({ encryption: { requestRequired: true } });
    some.when(change({ encryption: { requestRequired: true } })).then([]);
    after()
      .when(change({ encryption: null }))
      .then([]);
  });

  it('have defaults, and requiring encrypted responses requires encrypted requests', () => {
    const defaults = { enabled: true, requestRequired: false, responseRequired: false };
    expect(encryptionPolicy({})).toEqual(defaults);
    expect(encryptionPolicy({ encryption: { enabled: false } })).toEqual({ ...defaults, enabled: false });
    expect(encryptionPolicy({ encryption: { responseRequired: true } })).toEqual({
      enabled: true,
      requestRequired: true,
      responseRequired: true,
    });
  });

  it.each(['requestRequired', 'responseRequired'] as const)('refuse to be off while %s', (member) => {
    const fault = (run: () => unknown) => {
      try {
        run();
        return undefined;
      } catch (error) {
        return (error as AppError).details;
      }
    };
    const refused = [
      {
        param: `encryption.${member}`,
        msg: 'must not be true while encryption.enabled is false',
        value: true,
        location: 'body',
      },
    ];
    expect(fault(() => change({ encryption: { enabled: false } })({ encryption: { [member]: true } }))).toEqual(
      refused,
    );
    expect(fault(() => change({ encryption: { [member]: true } })({ encryption: { enabled: false } }))).toEqual(
      refused,
    );
    expect(
      fault(() => change({ encryption: { [member]: true, enabled: true } })({ encryption: { enabled: false } })),
    ).toBe(undefined);
  });
});

describe('the name of the issuer [T595]', () => {
  const named = after({ issuerDomain: 'acme.example' });
  it('is shown, not the domain', () => {
    const view = effectiveSettings({ issuerDomain: 'acme.example' }, { nodeEnv: 'test' });
    expect(view).toMatchObject({ issuerName: 'domain' });
    expect(view).not.toHaveProperty('issuerDomain');
  });

  it('is the host again when its domain is withdrawn, and not when another one is', () => {
    named.when((state) => resetIssuerName(state, { withdrawn: 'acme.example' })).thenState({});
    named.when((state) => resetIssuerName(state, { withdrawn: 'other.example' })).then([]);
    after()
      .when((state) => resetIssuerName(state, { withdrawn: 'acme.example' }))
      .then([]);
    named.when(change({ issuerDomain: null })).thenState({});
    named.when(change({ issuerDomain: undefined })).then([]);
  });
});

describe('the interaction hook [T418]', () => {
  const made = { sealedSecret: 'sealed', secretKeyId: 'k1' };
  const url = 'https://hook.example.com/';
  const some = after({ interactionHook: { url, claims: ['email'], ...made } });
  const request =
    (requested: Parameters<typeof changeOfHook>[1], given = made) =>
    (state: OpenIdSettings) =>
      changeSettings(state, { interactionHook: changeOfHook(state, requested, given) });

  it('is made with a secret, changes only the members that are named, and null removes it', () => {
    const withPlain = { ...made, secret: 'in clear' };
    after()
      .when(request({ url }, withPlain))
      .thenState({ interactionHook: { url, ...made } });
    some.when(request({ disabled: true })).thenState({
      interactionHook: { url, claims: ['email'], ...made, disabled: true },
    });
    some.when(request({ claims: null })).thenState({ interactionHook: { url, ...made } });
    some.when(request(null)).thenState({});
    some.when(request({})).then([]);
    some.when(request({ url })).then([]);
    some.when(request(undefined)).then([]);
    after().when(request({})).then([]);
    after().when(request(null)).then([]);
    some.when(change({ strictClaimsSources: true })).thenState({
      strictClaimsSources: true,
      interactionHook: { url, claims: ['email'], ...made },
    });
  });

  it('has an address', () => {
    for (const requested of [{ disabled: true }, { secret: null }, { claims: [] }])
      expect(() => changeOfHook({}, requested, made)).toThrow(
        expect.objectContaining({
          details: [{ param: 'interactionHook.url', msg: 'is required when the hook is made', location: 'body' }],
        }),
      );
  });

  it('gets another secret for null alone', () => {
    const other = { sealedSecret: 'other', secretKeyId: 'k2' };
    some.when(request({ secret: null }, other)).thenState({ interactionHook: { url, claims: ['email'], ...other } });
    some.when(request({ secret: '**********abcde' }, other)).then([]);
    some.when(request({ disabled: false }, other)).thenState({
      interactionHook: { url, claims: ['email'], ...made, disabled: false },
    });
    const state = stateAfter(openIdSettings, [changed({ interactionHook: { url, ...made } })]);
    expect([undefined, null, {}, { url }, { secret: null }].map((one) => needsSecret(state, one))).toEqual([
      ...[false, false, false, false, true],
    ]);
    expect([undefined, null, { url }].map((one) => needsSecret({}, one))).toEqual([false, false, true]);
    expect(() => changeOfHook(state, { secret: null }, undefined)).toThrow('a secret is needed');
  });

  it('is shown with its defaults, without what is sealed', () => {
    expect(effectiveHook({ url, ...made })).toEqual({ url, claims: [], sessionTimeoutInSec: 1200, disabled: false });
    const settings = effectiveSettings({ interactionHook: { url, ...made } }, { nodeEnv: 'test' });
    expect(JSON.stringify(settings)).not.toContain('sealed');
  });
});
