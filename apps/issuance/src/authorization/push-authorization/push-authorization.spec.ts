import type { AppError, RawRequest } from '@attestry/contracts';
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
  it.each(['client_id=x', 'state', 'code_challenge_method=S256'])('refuses ?%s', (query) =>
    expect(refusal(() => checkParametersLocation(raw({ url: `/v1/oauth/par?${query}` })))).toEqual([
      'invalid_request',
      'parameters must be in the body, not in the query string',
      'check-parameters-location',
    ]),
  );
  it.each(['/v1/oauth/par', '/v1/oauth/par?', '/v1/oauth/par?unknown=1'])('accepts %s', (url) =>
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
