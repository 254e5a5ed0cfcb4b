import { createHmac, randomBytes } from 'node:crypto';
import type { AppError } from '@attestry/contracts';
import { decodeProtectedHeader, exportPKCS8, generateKeyPair, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { makeSessionToken, stateOf, verifySessionToken } from './session-token.js';

const secret = randomBytes(32).toString('base64');
const key = Buffer.from(secret, 'base64');
const now = new Date('2026-03-01T12:00:00Z');
const at = now.getTime() / 1000;
const interaction = {
  ...{ issuer: 'https://acme.example', hookUrl: 'https://hook.example.com/visit', state: 'the-state' },
  ...{ secret, sessionTimeoutInSec: 600, now },
};
const good = {
  ...{ iss: interaction.hookUrl, aud: interaction.issuer, state: interaction.state, iat: at, exp: at + 60 },
  ...{ claims: { level: 2 }, claimsToPersist: ['level'] },
};
const sign = (claims: object = {}, header: object = {}, signer: Uint8Array = key) =>
  new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: 'HS256', ...header } as never).sign(signer);
const refusal = async (token: string | Promise<string>, more: object = {}) => {
  try {
    return await verifySessionToken(await token, { ...interaction, ...more });
  } catch (error) {
    const { code, message } = error as AppError;
    expect(code).toBe('access_denied');
    return message.replace('session_token: ', '');
  }
};

describe('the token for the interaction hook [T420]', () => {
  it('is signed with the secret and says where the browser returns', async () => {
    const made = await makeSessionToken(interaction, { redirectUrl: 'https://acme.example/back', claims: { a: 1 } });
    expect(decodeProtectedHeader(made)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const { payload } = await jwtVerify(made, key, { currentDate: now });
    expect(payload).toEqual({
      ...{ iss: 'https://acme.example', aud: 'https://hook.example.com/visit', state: 'the-state' },
      ...{ redirectUrl: 'https://acme.example/back', claims: { a: 1 }, iat: at, exp: at + 600 },
    });
    expect(stateOf(made)).toBe('the-state');
  });

  it('has a place in an address', async () => {
    const made = makeSessionToken(interaction, { redirectUrl: 'x', claims: { a: 'x'.repeat(8192) } });
    await expect(made).rejects.toMatchObject({
      code: 'server_error',
      message: 'the claims for the interaction hook are too large for an address',
    });
  });

  it('names its state, before it is verified', async () => {
    expect(stateOf(await sign({}, {}, randomBytes(32)))).toBe('the-state');
    for (const token of ['', 'x', 'a.b.c', await sign({ state: 7 }), await sign({ state: undefined })])
      expect(stateOf(token)).toBe('');
  });
});

describe('the token of the interaction hook [T421]', () => {
  it('has claims, and the names of those to store', async () => {
    expect(await refusal(sign())).toEqual({ claims: { level: 2 }, claimsToPersist: ['level'] });
    expect(await refusal(sign({ claims: undefined, claimsToPersist: undefined }))).toEqual({
      claims: {},
      claimsToPersist: [],
    });
  });

  it.each([
    [{ iss: 'https://hook.example.com/' }, 'iss must be the url of the interaction hook'],
    [{ iss: undefined }, 'iss must be the url of the interaction hook'],
    [{ aud: 'https://other.example' }, 'aud must be the credential issuer identifier'],
    [{ aud: undefined }, 'aud must be the credential issuer identifier'],
    [{ state: 'another' }, 'state must be the one of the token that the hook received'],
    [{ state: undefined }, 'state is missing or not valid'],
    [{ exp: undefined }, 'exp is missing or not valid'],
    [{ exp: at - 31 }, 'exp has passed'],
    [{ exp: at + 631 }, 'exp must be at most 600 seconds in the future'],
    [{ nbf: at + 31 }, 'nbf is missing or not valid'],
    [{ claims: [] }, 'claims must be an object'],
    [{ claims: 'x' }, 'claims must be an object'],
    [
      { claims: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`c${n}`, n])) },
      'claims must have at most 1000 entries',
    ],
    [{ claimsToPersist: 'level' }, 'claimsToPersist must be an array of strings'],
    [{ claimsToPersist: [1] }, 'claimsToPersist must be an array of strings'],
  ])('is refused with %j', async (claims, reason) => expect(await refusal(sign(claims))).toBe(reason));

  it('tolerates clocks that are 30 seconds apart', async () => {
    for (const exp of [at - 29, at + 630]) expect(await refusal(sign({ exp }))).toMatchObject({ claims: { level: 2 } });
  });

  it('is signed with HS256 and the secret, and nothing else', async () => {
    expect(await refusal(sign({}, {}, randomBytes(32)))).toBe(
      'the signature was not made with the secret of the interaction hook',
    );
    // The text of the secret is not the key.
    expect(await refusal(sign({}, {}, Buffer.from(secret)))).toMatch(/signature was not made/);
    for (const alg of ['HS384', 'HS512'])
      expect(await refusal(sign({}, { alg }, randomBytes(64)))).toBe('alg must be HS256');
    expect(await refusal(new UnsecuredJWT(good).encode())).toMatch(/^(alg must be HS256|it must be a compact JWS)/);
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    expect(await exportPKCS8(privateKey)).toContain('PRIVATE KEY');
    const signed = new SignJWT(good).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    expect(await refusal(signed)).toBe('alg must be HS256');
    const [header, payload, signature] = (await sign()).split('.') as [string, string, string];
    const other = Buffer.from(JSON.stringify({ ...good, claims: { level: 9 } })).toString('base64url');
    expect(await refusal(`${header}.${other}.${signature}`)).toMatch(/signature was not made/);
    for (const token of ['', 'a.b.c', `${header}.${payload}.`, `${header}.${payload}`])
      expect(typeof (await refusal(token))).toBe('string');
  });

  it('refuses a member named __proto__, and keeps every other name [T609]', async () => {
    const claims = JSON.parse('{"x":{"__proto__":{"admin":true}}}') as object;
    expect(await refusal(sign({ claims }))).toBe('claims.x must not have a member named __proto__');
    const kept = { constructor: 1, toString: 'a', x: { valueOf: 2 } };
    expect(((await refusal(sign({ claims: kept }))) as { claims: object }).claims).toEqual(kept);
  });

  it('has a claim with an inexact number as null, and names it [T608]', async () => {
    const claims = '{"id":12345678901234567891,"a":{"b":[1e400]},"toString":0.1,"x":"12345678901234567891"}';
    const { claims: _, claimsToPersist: __, ...rest } = good;
    const payload = `${JSON.stringify(rest).slice(0, -1)},"n":12345678901234567891,"claims":${claims},"claimsToPersist":["id","x"]}`;
    const signed = [JSON.stringify({ alg: 'HS256' }), payload]
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
    const token = `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    expect(await refusal(token)).toEqual({
      claims: { id: null, a: null, toString: 0.1, x: '12345678901234567891' },
      claimsToPersist: ['x'],
      unusable: ['id', 'a'],
    });
  });
});
