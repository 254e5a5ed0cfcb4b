import { UnsecuredJWT } from 'jose';
import { reasonOfRefusal } from './reason-of-refusal.js';

const AUDIENCE = 'https://acme.example';
const now = new Date('2026-03-02T10:00:00.000Z');
const exp = Math.floor(now.getTime() / 1000) + 60;
const OTHER_AUDIENCE = `The access token has another audience; request one for ${AUDIENCE}`;
const NOT_VALID = 'The access token is not valid';
const token = (claims: object) => new UnsecuredJWT(claims as never).encode();

describe('the reason of a refused access token', () => {
  it.each([
    ['a token with another audience', { aud: 'https://other.example', exp }, OTHER_AUDIENCE],
    ['a token with a list of other audiences', { aud: ['https://other.example'], exp }, OTHER_AUDIENCE],
    ['an expired token with another audience', { aud: 'https://other.example', exp: 1 }, OTHER_AUDIENCE],
    ['an expired token', { aud: AUDIENCE, exp: exp - 60 }, 'The access token has expired'],
    // Whether its key, client or secret exists, or it was revoked, is not revealed.
    [
      'a token with the right audience that has not expired',
      { aud: ['https://other.example', AUDIENCE], exp, client_id: 'x' },
      NOT_VALID,
    ],
    ['a token without claims', {}, NOT_VALID],
  ])('is the expected one for %s', (_what, claims, reason) => {
    expect(reasonOfRefusal(token(claims), AUDIENCE, now)).toBe(reason);
  });

  it.each(['x.y.z', 'e30.W10.', 'e30.eA.e30'])(
    'is the same for a token whose claims cannot be read: %s',
    (malformed) => {
      expect(reasonOfRefusal(malformed, AUDIENCE, now)).toBe(NOT_VALID);
    },
  );

  it.each([
    { aud: 'a"\r\nset-cookie: x', exp },
    { aud: { toString: 1 }, exp: '1' },
    { aud: null, exp: -1e300 },
  ])('contains nothing from a token with the claims %j', (claims) => {
    expect([OTHER_AUDIENCE, NOT_VALID]).toContain(reasonOfRefusal(token(claims), AUDIENCE, now));
  });
});
