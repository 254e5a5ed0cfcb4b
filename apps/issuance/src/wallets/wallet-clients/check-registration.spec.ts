import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import { checkRegistration, checkStillRegistered } from './check-registration.js';

const of = (origin: object) => ({ status: 'authorized', origin }) as unknown as IssuanceSessionState;
const registered = of({ kind: 'authorizationRequest', clientId: 'wallet', isRegistered: true });
const wallet = { clientId: 'wallet' } as RegisteredWallet;

describe('the code of a registered wallet', () => {
  it('is exchanged while the wallet is registered [T213]', () => {
    expect(() => checkRegistration(registered, 'wallet', wallet)).not.toThrow();
    expect(() => checkRegistration(registered, 'wallet', undefined)).toThrow('the wallet is no longer registered');
  });

  it('is refused for another reason when another client sends it; other codes need no wallet', () => {
    expect(() => checkRegistration(registered, 'other', undefined)).not.toThrow();
    for (const state of [
      of({ kind: 'authorizationRequest', clientId: 'wallet' }),
      of({ kind: 'preAuthorizedOffer' }),
      { status: 'locked', id: 'x' } as IssuanceSessionState,
    ])
      expect(() => checkRegistration(state, 'wallet', undefined)).not.toThrow();
  });

  it('is not the code of whoever used the client_id before [T494]', () => {
    const before = of({ kind: 'authorizationRequest', clientId: 'wallet' });
    expect(() => checkRegistration(before, 'wallet', wallet)).toThrow('the wallet was registered later');
    expect(() => checkRegistration(before, 'other', wallet)).not.toThrow();
    // Such a client may still end its tokens.
    expect(() => checkStillRegistered(before, 'wallet', wallet)).not.toThrow();
  });
});
