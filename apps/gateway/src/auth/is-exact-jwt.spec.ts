import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { isExactJwt } from './is-exact-jwt.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('the spelling of a token', () => {
  let token: string;
  beforeAll(async () => {
    token = await new SignJWT({ sub: 'x' }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  });

  it('is accepted only as it was issued', () => {
    expect(isExactJwt(token)).toBe(true);
  });

  it('with another last character is refused, although its signature verifies', async () => {
    const last = ALPHABET.indexOf(token.at(-1)!);
    // 64 bytes are 86 characters: the last four bits of the last one mean nothing.
    const other = `${token.slice(0, -1)}${ALPHABET[last ^ 1]}`;
    await expect(jwtVerify(other, publicKey)).resolves.toBeDefined();
    expect(isExactJwt(other)).toBe(false);
  });

  it.each([
    ['with padding', (it: string) => `${it}=`],
    ['with a fourth part', (it: string) => `${it}.`],
    ['without a signature', (it: string) => it.split('.').slice(0, 2).join('.')],
    ['with three empty parts', () => '..'],
  ])('%s is refused', (_what, change) => {
    expect(isExactJwt(change(token))).toBe(false);
  });

  it('in the alphabet of base64 is refused', () => {
    expect(isExactJwt(`${token.slice(0, -2)}+/`)).toBe(false);
  });
});
