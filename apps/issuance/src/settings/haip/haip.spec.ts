import type { AppError } from '@attestry/contracts';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { changeSettings, effectiveSettings } from '../openid-settings/openid-settings.decisions.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { authorizationServerMetadata } from '../../metadata/authorization-server-metadata/authorization-server-metadata.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import {
  checkHaipAuthorization,
  checkHaipSession,
  checkHaipTokenRequest,
} from '../../wallets/haip-profile/check-haip.js';
import type { HaipFacts } from './haip.decisions.js';

const haipFormats = ['dc+sd-jwt', 'mso_mdoc'] as const;
const READY: HaipFacts = { formats: ['cwt', 'mso_mdoc'], haipFormats, hasAttestedWallet: true };
const faultOf = (run: () => unknown) => {
  try {
    run();
    return undefined;
  } catch (error) {
    const { code, message, headers } = error as AppError;
    return [code, message, ...Object.values(headers ?? {})];
  }
};
const detailsOf = (...given: Parameters<typeof changeSettings>) => {
  try {
    changeSettings(...given);
    return [];
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg, value, location }) => [param, msg, value, location]);
  }
};

describe('the profile haip', () => {
  it('is switched on, and off again by null [T455]', () => {
    const [on] = changeSettings({}, { profile: 'haip' }, READY);
    expect(on).toEqual({ type: 'OpenIdSettingsChanged', data: { profile: 'haip' } });
    expect(changeSettings({ profile: 'haip' }, { profile: 'haip' }, READY)).toEqual([]);
    for (const profile of [null, 'default'] as const)
      expect(changeSettings({ profile: 'haip' }, { profile })).toHaveLength(1);
    for (const format of ['dc+sd-jwt', 'mso_mdoc'] as const)
      expect(detailsOf({}, { profile: 'haip' }, { ...READY, formats: [format] })).toEqual([]);
  });

  it('fixes the settings that it requires [T455]', () => {
    for (const nodeEnv of ['development', 'production'])
      expect(effectiveSettings({ profile: 'haip' }, { nodeEnv })).toMatchObject({
        profile: 'haip',
        allowUnregisteredWallets: false,
        requirePushedAuthorizationRequests: true,
      });
    // The profile also overrides what was stored before it was chosen.
    const stored = { profile: 'haip', allowUnregisteredWallets: true } as const;
    expect(effectiveSettings(stored, { nodeEnv: 'development' }).allowUnregisteredWallets).toBe(false);
  });

  it('is refused with everything that contradicts it [T456]', () => {
    const nothing: HaipFacts = {
      haipFormats,
      formats: ['cwt', 'ldp_vc', 'jwt_vc_json', 'cwt_vc'],
      hasAttestedWallet: false,
    };
    const settings = { allowUnregisteredWallets: true, requirePushedAuthorizationRequests: false };
    const all = [
      ...[
        'requires a credential configuration of one of the formats dc+sd-jwt, mso_mdoc',
        'requires a wallet with rootCertificates that is not disabled',
      ].map((msg) => ['profile', msg, 'haip', 'body']),
      ['allowUnregisteredWallets', 'must be false while profile is haip', true, 'body'],
      ['requirePushedAuthorizationRequests', 'must be true while profile is haip', false, 'body'],
    ];
    expect(detailsOf(settings, { profile: 'haip' }, nothing)).toEqual(all);
    expect(detailsOf({}, { profile: 'haip', ...settings }, nothing)).toEqual(all);
    expect(detailsOf({}, { profile: 'haip' }, { ...nothing, formats: [] })).toEqual(all.slice(0, 2));
    const reset = { allowUnregisteredWallets: null, requirePushedAuthorizationRequests: null };
    expect(detailsOf(settings, { profile: 'haip', ...reset }, READY)).toEqual([]);
  });

  it('is not contradicted later, while other settings change [T457]', () => {
    const on = { profile: 'haip' } as const;
    expect(detailsOf(on, { allowUnregisteredWallets: true })).toEqual([
      ['allowUnregisteredWallets', 'must be false while profile is haip', true, 'body'],
    ]);
    expect(detailsOf(on, { requirePushedAuthorizationRequests: false })).toHaveLength(1);
    expect(detailsOf(on, { allowUnregisteredWallets: true, profile: null })).toEqual([]);
    expect(detailsOf(on, { dpopNonceRequired: true, allowUnregisteredWallets: false })).toEqual([]);
  });
});

const wallet = { clientId: 'w' } as RegisteredWallet;
const attested = { ...wallet, rootCertificates: ['PEM'] };
const proof = {} as DpopProof;
const details = [{ credentialConfigurationId: 'c' }];

describe('under the profile haip', () => {
  const noDetails = 'authorization_details must not be sent: this issuer requires scope (HAIP 1.0)';

  it('scope selects the credentials [T460]', () => {
    expect(faultOf(() => checkHaipAuthorization({ profile: 'haip' }, { details }))).toEqual([
      'invalid_authorization_details',
      noDetails,
    ]);
    expect(faultOf(() => checkHaipAuthorization({ profile: 'haip' }, {}))).toBeUndefined();
    expect(faultOf(() => checkHaipAuthorization({ profile: 'default' }, { details }))).toBeUndefined();
  });

  it.each<[string, Parameters<typeof checkHaipTokenRequest>, unknown[] | undefined]>([
    ['a complete request', [{ grant: 'authorizationCode' }, attested, proof], undefined],
    [
      'a pre-authorized code',
      [{ grant: 'preAuthorizedCode' }, attested, proof],
      ['unsupported_grant_type', 'grant_type must be authorization_code or refresh_token (HAIP 1.0)'],
    ],
    ...[undefined, wallet].map((client): [string, Parameters<typeof checkHaipTokenRequest>, unknown[]] => [
      client ? 'a public client' : 'no registered client',
      [{ grant: 'authorizationCode' }, client, proof],
      ['invalid_client', 'client_id must be the one of a wallet that attests itself (HAIP 1.0)'],
    ]),
    [
      'no DPoP proof',
      [{ grant: 'authorizationCode' }, attested, undefined],
      ['invalid_dpop_proof', 'a DPoP proof is required of every client (HAIP 1.0)'],
    ],
    [
      'details',
      [{ grant: 'authorizationCode', authorizationDetails: details }, attested, proof],
      ['invalid_authorization_details', noDetails],
    ],
  ])('a token request is checked: %s [T459]', (_, given, expected) =>
    expect(faultOf(() => checkHaipTokenRequest(...given))).toEqual(expected),
  );

  it('a token that was issued before is refused, unless a registered wallet has bound it [T463] [T491]', () => {
    const session = (origin: object, jkt?: string) =>
      ({ origin, accessToken: { ...(jkt !== undefined && { jkt }) } }) as unknown as RedeemedSession;
    const registered = { kind: 'authorizationRequest', isRegistered: true };
    expect(faultOf(() => checkHaipSession(session(registered, 'k')))).toBeUndefined();
    const earlier = 'the access token was issued before this issuer required HAIP 1.0';
    const challenge = `error="invalid_token", error_description="${earlier}"`;
    expect(faultOf(() => checkHaipSession(session(registered)))).toEqual([
      'invalid_token',
      earlier,
      `Bearer ${challenge}`,
    ]);
    const refused = ['invalid_token', earlier, `DPoP ${challenge}, algs="ES256"`];
    for (const origin of [{ kind: 'preAuthorizedOffer' }, { kind: 'authorizationRequest' }])
      expect(faultOf(() => checkHaipSession(session(origin, 'k')))).toEqual(refused);
    // Where its wallet is loaded: only if that attests itself.
    expect(faultOf(() => checkHaipSession(session(registered, 'k'), attested))).toBeUndefined();
    expect(faultOf(() => checkHaipSession(session(registered, 'k'), wallet))).toEqual(refused);
  });

  it('the metadata have what is accepted [T462]', () => {
    const haip = effectiveSettings({ profile: 'haip' }, { nodeEnv: 'development' });
    const metadata = authorizationServerMetadata('https://acme.example', [], haip);
    expect(metadata).toMatchObject({
      require_pushed_authorization_requests: true,
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      'pre-authorized_grant_anonymous_access_supported': false,
    });
    expect(metadata).not.toHaveProperty('authorization_details_types_supported');
  });
});
