import type { AppError } from '@attestry/contracts';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import { classifyClient, type ClientRules } from './classify-client.js';

const BACK = 'https://wallet.example/back';
const wallet: RegisteredWallet = {
  ...{ id: 'w1', name: 'City wallet', clientId: 'city', redirectUris: [BACK, 'http://127.0.0.1/back', 'city:/back'] },
  ...{ dpopRequired: false, disabled: false },
};
const rules = (
  more: Partial<ClientRules> = {},
  nodeEnv = 'development',
  walletRedirectUris?: string[],
): ClientRules => ({
  wallets: [],
  settings: {},
  config: { nodeEnv, walletRedirectUris },
  ...more,
});
const classify = (clientId: string, redirectUri: string, given: ClientRules) => {
  try {
    return classifyClient({ clientId, redirectUri }, given).kind;
  } catch (error) {
    const { kind, code, message } = error as AppError;
    return [kind, code, message];
  }
};
const UNUSABLE =
  'redirect_uri must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment';
const UNKNOWN = 'client_id must be the one of a wallet that is registered with this issuer';
const PLAIN = 'redirect_uri must be an https URL, because the wallet is not registered with this issuer';
const OTHER = 'redirect_uri must be one of the redirect URIs that are registered for the wallet';
const invalid = (message: string) => ['invalid', 'invalid_request', message];
const unknown = ['invalid', 'unauthorized_client', UNKNOWN];

describe('a registered wallet', () => {
  it.each(['development', 'production'])('uses its own addresses alone in %s [T212]', (nodeEnv) => {
    for (const settings of [{}, { allowUnregisteredWallets: true }, { allowUnregisteredWallets: false }]) {
      const given = rules({ wallets: [wallet], settings }, nodeEnv, ['https://listed.example/']);
      for (const redirectUri of [BACK, 'http://127.0.0.1:5555/back', 'city:/back'])
        expect(classifyClient({ clientId: 'city', redirectUri }, given)).toEqual({ kind: 'registered', wallet });
      for (const redirectUri of [`${BACK}/`, 'https://listed.example/', 'city:/other', 'http://localhost/back'])
        expect(classify('city', redirectUri, given)).toEqual(invalid(OTHER));
      expect(classify('city', 'http://127.0.0.1:99999/back', given)).toEqual(invalid(UNUSABLE));
    }
  });

  it('is refused while it is disabled [T213]', () => {
    const given = rules({ wallets: [{ ...wallet, disabled: true }] });
    expect(classify('city', BACK, given)).toEqual([
      'invalid',
      'unauthorized_client',
      'this issuer has disabled the wallet',
    ]);
  });

  it('attests itself under the profile haip, whose rules no other class can meet [T458]', () => {
    const settings = { profile: 'haip' as const };
    const attested = { ...wallet, rootCertificates: ['PEM'] };
    expect(classify('city', BACK, rules({ wallets: [attested], settings }))).toBe('registered');
    expect(classify('city', BACK, rules({ wallets: [wallet], settings }))).toEqual([
      ...['invalid', 'unauthorized_client', 'client_id must be the one of a wallet that attests itself (HAIP 1.0)'],
    ]);
    for (const more of [{}, { allowUnregisteredWallets: true }])
      for (const isPushed of [true, false]) {
        const given = rules({ settings: { ...settings, ...more }, isPushed }, 'development', [BACK]);
        expect(classify('unknown', BACK, given)).toEqual(unknown);
      }
  });

  it('without addresses has none', () => {
    const { redirectUris: _, ...rest } = wallet;
    expect(classify('city', BACK, rules({ wallets: [{ ...rest, rootCertificates: ['PEM'] }] }))).toEqual(
      invalid(OTHER),
    );
  });
});

describe('a client that is not registered', () => {
  it('is used by consent in development, and refused in production [T214]', () => {
    expect(classify('x', BACK, rules())).toBe('unregistered');
    expect(classify('x', BACK, rules({}, 'test'))).toBe('unregistered');
    expect(classify('x', BACK, rules({}, 'production'))).toEqual(unknown);
    for (const wallets of [[], [wallet]]) {
      const allowed = { wallets, settings: { allowUnregisteredWallets: true } };
      expect(classify('x', BACK, rules(allowed, 'production'))).toBe('unregistered');
      const refused = { wallets, settings: { allowUnregisteredWallets: false } };
      expect(classify('x', BACK, rules(refused))).toEqual(unknown);
    }
  });

  it('has an https address in every environment [T214]', () => {
    const allowed = { settings: { allowUnregisteredWallets: true } };
    for (const nodeEnv of ['development', 'production']) {
      for (const redirectUri of ['http://127.0.0.1/back', 'http://localhost:1/', 'org.example.wallet:/back'])
        expect(classify('x', redirectUri, rules(allowed, nodeEnv))).toEqual(invalid(PLAIN));
      for (const redirectUri of ['http://wallet.example/', 'intent://x', '/back', `${BACK}#x`, 'javascript:alert(1)'])
        expect(classify('x', redirectUri, rules(allowed, nodeEnv))).toEqual(invalid(UNUSABLE));
    }
  });

  it('uses an address of WALLET_REDIRECT_URIS for a tenant that has neither wallets nor the setting [T215]', () => {
    const list = [BACK, 'org.example.wallet:/back', 'intent://x'];
    for (const nodeEnv of ['development', 'production']) {
      for (const redirectUri of list.slice(0, 2))
        expect(classify('x', redirectUri, rules({}, nodeEnv, list))).toBe('listed');
      expect(classify('x', 'intent://x', rules({}, nodeEnv, list))).toEqual(invalid(UNUSABLE));
    }
    expect(classify('x', `${BACK}/`, rules({}, 'production', list))).toEqual(unknown);
    expect(classify('x', BACK, rules({ wallets: [wallet] }, 'production', list))).toEqual(unknown);
    const set = (allowUnregisteredWallets: boolean) =>
      classify('x', BACK, rules({ settings: { allowUnregisteredWallets } }, 'production', list));
    expect([set(false), set(true)]).toEqual([unknown, 'unregistered']);
  });
});
