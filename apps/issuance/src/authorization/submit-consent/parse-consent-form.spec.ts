import type { AppError } from '@attestry/contracts';
import { parseConsentForm } from './parse-consent-form.js';

const ISSUER = 'https://acme.example';
const valid = { request: 'r', token: 't', decision: 'approve' };
const approval = { ...valid, confirmed: 'yes' };
const parse = (form: URLSearchParams | Record<string, string>, headers: Record<string, string> = {}): unknown => {
  try {
    return parseConsentForm({ headers }, new URLSearchParams(form), ISSUER);
  } catch (error) {
    const { code, message } = error as AppError;
    return [code, message];
  }
};

describe('the form of the consent page', () => {
  it.each([
    {},
    { origin: ISSUER, 'sec-fetch-site': 'same-origin' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ])('is accepted with the headers %j', (headers) => {
    expect(parse({ ...approval, ui_locales: 'de', more: 'x' }, headers as Record<string, string>)).toEqual(valid);
    expect(parse({ ...valid, decision: 'refuse' })).toEqual({ ...valid, decision: 'refuse' });
  });

  it.each([
    { origin: 'https://evil.example' },
    { origin: `${ISSUER}.evil.example` },
    { origin: 'http://acme.example' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: ISSUER, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])('is refused with the headers %j [T232]', (headers) =>
    expect(parse(valid, headers as Record<string, string>)).toEqual([
      'invalid_request',
      'the form must be sent from the page of this issuer',
    ]),
  );

  it('names the faulty member', () => {
    for (const name of ['request', 'token', 'decision']) {
      const fault = ['invalid_request', `${name} must be sent once, with a value`];
      expect(parse({ ...valid, [name]: '' })).toEqual(fault);
      const twice = new URLSearchParams(valid);
      twice.append(name, 'x');
      expect(parse(twice)).toEqual(fault);
    }
    expect(parse({ ...approval, decision: 'Approve' })).toEqual([
      'invalid_request',
      'decision must be approve or refuse',
    ]);
    for (const confirmed of [{}, { confirmed: '' }, { confirmed: 'on' }])
      expect(parse({ ...valid, ...confirmed } as Record<string, string>)).toEqual([
        'invalid_request',
        'confirmed must be yes for an approval',
      ]);
    expect(parse({ ...valid, token: 'x'.repeat(44) })).toEqual([
      'invalid_request',
      'token must have at most 43 characters',
    ]);
    expect(parse({ ...valid, request: 'x'.repeat(37) })).toEqual([
      'invalid_request',
      'request must have at most 36 characters',
    ]);
  });
});
