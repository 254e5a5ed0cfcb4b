import type { AppError, RawRequest } from '@attestry/contracts';
import { findRegisteredWallet } from '../wallets/find-registered-wallet.js';
import type { RegisteredWallet } from '../wallets/wallets.events.js';
import { checkDpop } from './check-dpop.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkSize } from './check-size.js';

const raw = (more: Partial<RawRequest>): RawRequest => ({
  method: 'POST',
  url: '/v1/oauth/par',
  headers: {},
  text: '',
  ...more,
});
const refusal = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
};

describe('check-parameters-location of a pushed request', () => {
  it.each(['client_id=x', 'state', 'unknown=1'])('refuses ?%s', (query) =>
    expect(refusal(() => checkParametersLocation(raw({ url: `/v1/oauth/par?${query}` })))).toEqual([
      'invalid_request',
      'parameters must be in the body, not in the query string',
      'check-parameters-location',
    ]),
  );
  it.each(['/v1/oauth/par', '/v1/oauth/par?'])('accepts %s', (url) =>
    expect(refusal(() => checkParametersLocation(raw({ url })))).toBeUndefined(),
  );
});

describe('check-size', () => {
  it('accepts 16384 characters and no more', () => {
    expect(refusal(() => checkSize('x'.repeat(16_384)))).toBeUndefined();
    expect(refusal(() => checkSize('x'.repeat(16_385)))).toEqual([
      'invalid_request',
      'the form-encoded parameters must have at most 16384 characters together',
      'check-size',
    ]);
  });
});

describe('check-dpop', () => {
  it('refuses a proof, also an empty one', () => {
    for (const dpop of ['', 'a.b.c'])
      expect(refusal(() => checkDpop(raw({ headers: { dpop } })))).toEqual([
        'invalid_request',
        'DPoP is not supported',
        'check-dpop',
      ]);
    expect(refusal(() => checkDpop(raw({})))).toBeUndefined();
  });
});

describe('find-registered-wallet', () => {
  it('finds the wallet of a client id, unless it is disabled', () => {
    const wallet = (id: string, disabled = false): RegisteredWallet => ({
      ...{ id, name: id, clientId: `client ${id}`, dpopRequired: false, disabled },
    });
    const wallets = [wallet('a'), wallet('b'), wallet('c', true)];
    expect(findRegisteredWallet(wallets, 'client b')).toEqual(wallets[1]);
    for (const clientId of ['client c', 'client d', 'b', ''])
      expect(findRegisteredWallet(wallets, clientId)).toBeUndefined();
  });
});
