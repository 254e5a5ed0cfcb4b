import type { AppError } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { checkDpopParameter, checkEnabled } from './check-wallet.js';
import { walletOf, walletView } from './wallet-views.js';
import { changeWallet, isOfKind, registerWallet, removeWallet, requireWallet } from './wallets.decisions.js';
import type { RegisteredWallet, WalletsEvent } from './wallets.events.js';
import { wallets } from './wallets.state.js';

const wallet: RegisteredWallet = {
  ...{ id: 'w1', name: 'City wallet', clientId: 'city', redirectUris: ['https://wallet.example/back'] },
  ...{ dpopRequired: false, disabled: false },
};
const { redirectUris: _, ...plain } = wallet;
const attested: RegisteredWallet = { ...plain, id: 'w2', clientId: 'state', rootCertificates: ['PEM'] };
const registered = (data: RegisteredWallet): WalletsEvent => ({ type: 'WalletRegistered', data });
const stateOf = (...events: WalletsEvent[]) => stateAfter(wallets, events);
const faultsOf = (decide: () => unknown) => {
  try {
    decide();
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg, value }) => [param, msg, value]);
  }
  throw new Error('it was not refused');
};

describe('a wallet', () => {
  it('is registered, changed and deleted [T210]', () => {
    given(wallets, [])
      .when((state) => registerWallet(state, wallet))
      .then([registered(wallet)]);
    const changed = { ...wallet, name: 'Town wallet', disabled: true };
    given(wallets, [registered(wallet)])
      .when((state) => changeWallet(state, changed, 'any'))
      .then([{ type: 'WalletUpdated', data: changed }]);
    given(wallets, [registered(wallet)])
      .when((state) => changeWallet(state, { ...wallet }, 'any'))
      .then([]);
    given(wallets, [registered(wallet)])
      .when((state) => removeWallet(state, 'w1', 'any'))
      .then([{ type: 'WalletDeleted', data: { id: 'w1' } }]);
    for (const decide of [
      (state: readonly RegisteredWallet[]) => changeWallet(state, wallet, 'any'),
      (state: readonly RegisteredWallet[]) => removeWallet(state, 'w1', 'any'),
    ])
      given(wallets, []).when(decide).thenThrows('NotFound');
    expect(
      stateOf(
        registered(wallet),
        registered(attested),
        { type: 'WalletUpdated', data: changed },
        { type: 'WalletDeleted', data: { id: 'w2' } },
      ),
    ).toEqual([changed]);
  });

  it('has a client id that no other wallet of the tenant has [T210]', () => {
    const state = stateOf(registered(wallet), registered(attested));
    const fault = ['clientId', 'must be unique: another wallet of the tenant has it', 'city'];
    expect(faultsOf(() => registerWallet(state, { ...wallet, id: 'w3' }))).toEqual([fault]);
    expect(faultsOf(() => changeWallet(state, { ...attested, clientId: 'city' }, 'any'))).toEqual([fault]);
    expect(registerWallet(state, { ...wallet, id: 'w3', clientId: 'City' })).toHaveLength(1);
    expect(registerWallet(stateOf(registered(wallet), { type: 'WalletDeleted', data: { id: 'w1' } }), wallet)).toEqual([
      registered(wallet),
    ]);
  });

  it('is one of at most 100 of the tenant [T210]', () => {
    const many = Array.from({ length: 100 }, (__, n) => registered({ ...wallet, id: `x${n}`, clientId: `x${n}` }));
    given(wallets, many)
      .when((state) => registerWallet(state, wallet))
      .thenThrows('Conflict');
    expect(() => registerWallet(stateOf(...many), wallet)).toThrow('A tenant can have at most 100 wallets');
    given(wallets, many.slice(1))
      .when((state) => registerWallet(state, wallet))
      .then([registered(wallet)]);
  });

  it('has addresses that a browser can be redirected to, or attests itself [T211, T212]', () => {
    const usable = ['https://wallet.example/back', 'http://127.0.0.1:3000/back', 'org.example.wallet:/back'];
    const msg =
      'must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment';
    for (const decide of [
      (redirectUris: string[]) => registerWallet([], { ...wallet, redirectUris }),
      (redirectUris: string[]) => changeWallet([wallet], { ...wallet, redirectUris }, 'any'),
    ]) {
      expect(decide(usable)).toHaveLength(1);
      expect(faultsOf(() => decide(['intent://x', usable[0]!, 'http://wallet.example/']))).toEqual([
        ['redirectUris.0', msg, 'intent://x'],
        ['redirectUris.2', msg, 'http://wallet.example/'],
      ]);
    }
    expect(registerWallet([], attested)).toHaveLength(1);
    expect(faultsOf(() => registerWallet([], plain as RegisteredWallet))).toEqual([
      ['redirectUris', 'is required for a wallet without rootCertificates', undefined],
    ]);
  });

  it('without roots is not found among those that attest themselves [T211]', () => {
    const state = stateOf(registered(wallet), registered(attested));
    expect(state.filter((one) => isOfKind(one, 'attested'))).toEqual([attested]);
    expect(state.filter((one) => isOfKind(one, 'any'))).toEqual([wallet, attested]);
    expect([requireWallet(state, 'w1', 'any'), requireWallet(state, 'w2', 'attested')]).toEqual([wallet, attested]);
    for (const decide of [
      () => requireWallet(state, 'w1', 'attested'),
      () => changeWallet(state, { ...wallet, rootCertificates: ['PEM'] }, 'attested'),
      () => removeWallet(state, 'w1', 'attested'),
    ])
      expect(decide).toThrow('Resource Not Found');
  });

  it('is shown and stored with its defaults', () => {
    expect(
      walletOf('w1', { name: 'City wallet', clientId: 'city', redirectUris: wallet.redirectUris! }, undefined),
    ).toEqual(wallet);
    const request = { name: 'City wallet', clientId: 'state', dpopRequired: true, disabled: true };
    expect(walletOf('w2', { ...request, rootCertificates: ['pem'] }, ['PEM'])).toEqual({
      ...attested,
      dpopRequired: true,
      disabled: true,
    });
    expect(walletView(wallet)).toEqual({ ...wallet, attestationRequired: false });
    expect(walletView(attested)).toEqual({ ...attested, attestationRequired: true });
  });

  it('is refused while it is disabled, and sends no dpop_jkt for an attested key [T213]', () => {
    const refusal = (check: () => void) => {
      try {
        check();
        return undefined;
      } catch (error) {
        const { kind, code, message } = error as AppError;
        return [kind, code, message];
      }
    };
    expect(refusal(() => checkEnabled(attested))).toBeUndefined();
    expect(refusal(() => checkEnabled({ ...wallet, disabled: true }))).toEqual([
      'invalid',
      'unauthorized_client',
      'this issuer has disabled the wallet',
    ]);
    const jkt = 'A'.repeat(43);
    for (const one of [undefined, wallet, attested, { ...wallet, dpopRequired: true }])
      expect(refusal(() => checkDpopParameter(one, jkt))).toBeUndefined();
    const combined = { ...attested, dpopRequired: true };
    expect(refusal(() => checkDpopParameter(combined, undefined))).toBeUndefined();
    expect(refusal(() => checkDpopParameter(combined, jkt))).toEqual([
      'invalid',
      'invalid_request',
      'dpop_jkt must not be sent by a wallet whose DPoP key is attested',
    ]);
  });
});
