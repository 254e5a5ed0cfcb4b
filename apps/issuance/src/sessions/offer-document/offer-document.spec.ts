import { authorizationOffer, offerDocument, openOfferDocument, sealOfferDocument } from './offer-document.js';

const issuer = 'https://acme.example';
const grant = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

describe('an authorization code offer', () => {
  const offer = {
    credential_issuer: issuer,
    credential_configuration_ids: ['c1'],
    credentials: ['c1'],
    grants: { authorization_code: {} },
  };

  it('names the issuer, the configurations and the grant', () => {
    expect(authorizationOffer(issuer, ['c1'])).toStrictEqual(offer);
    expect(authorizationOffer(issuer, ['c1'], null)).toStrictEqual(offer);
  });

  it('carries the parameters for the authorization request', () =>
    expect(authorizationOffer(issuer, ['c1'], { login_hint: 'ann' })).toStrictEqual({
      ...offer,
      request_parameters: { login_hint: 'ann' },
    }));

  it('names a stored offer', () =>
    expect(authorizationOffer(issuer, ['c1'], undefined, 'state')).toStrictEqual({
      ...offer,
      grants: { authorization_code: { issuer_state: 'state' } },
    }));
});

describe('a pre-authorized offer', () => {
  it('describes its transaction code, where it has one', () => {
    const described = (code?: Parameters<typeof offerDocument>[3]) =>
      offerDocument(issuer, ['c1'], 'code', code).grants[grant];
    expect(described()).toStrictEqual({ 'pre-authorized_code': 'code' });
    expect(described({ inputMode: 'text', length: 6 })).toStrictEqual({
      'pre-authorized_code': 'code',
      tx_code: { length: 6, input_mode: 'text' },
    });
    expect(described({ inputMode: 'numeric', length: 6, description: 'in your mail' })).toStrictEqual({
      'pre-authorized_code': 'code',
      tx_code: { length: 6, input_mode: 'numeric', description: 'in your mail' },
    });
  });
});

describe('a sealed offer document', () => {
  const secret = Buffer.alloc(32, 7).toString('base64url');
  const document = offerDocument(issuer, ['c1'], 'code', { inputMode: 'text', length: 6, description: 'Ärger 🎟' });

  it('opens under its secret and its offer alone', () => {
    const sealed = sealOfferDocument(document, secret, 'o1');
    expect(openOfferDocument(sealed, secret, 'o1')).toEqual(document);
    expect(openOfferDocument(sealed, Buffer.alloc(32, 8).toString('base64url'), 'o1')).toBeUndefined();
    expect(openOfferDocument(sealed, secret, 'o2')).toBeUndefined();
  });

  it('opens as release 0.2.0 sealed it', () => expect(openOfferDocument(SEALED, secret, 'o1')).toEqual(document));
});

const SEALED =
  'B23oEQOvp_h84BkjhgMH4GXr9ZblvdgkKijQMR3OJnL1kKloWjWej_uhuT7WFHnE8Q8smfiqxtvMi-5mU_sTCR-eSHcg9CbKCqJqEc-4SVEumKrHbeqWv_LF7C8RBSOHF_RhKfQbamvUPWKVNI4SP2RWbvmINKStGFVTmmv9Zc819vsUnYWxHJeEhZrJ6DVuZcxk1s2K0kYdYNhL_-e26_-n0KCNXv3QmVOnFzHttnG0fyqFQ9HqaYUKxE2lOPc5sNlPqhoQvUcmeTq9ngy8K-KmE9GweVl5TLwRZZTzlq06lPlWIFvA6T_rFi986dEJLOlywtLvZMOFMOu5nOVaYdzFH3KiO-ovlbF8H1rPS6uxUrxDtREsua-cGDDWowFqF2X7LtXl-OJijQM';
