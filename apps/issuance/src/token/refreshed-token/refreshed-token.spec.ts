import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { makeRefreshedToken, readRefreshedToken, type RefreshedToken } from './refreshed-token.js';

const pepper = randomBytes(32);
const hmac = (secret: string, context = '') =>
  createHmac('sha256', pepper).update(`${context.length}:${context}${secret}`).digest('base64url');
const macs = {
  mac: (secret: string, context?: string) => ({ pepper: 'p1', mac: hmac(secret, context) }),
  verifyMac: (secret: string, expected: { pepper: string; mac: string }, context?: string) =>
    expected.pepper === 'p1' && hmac(secret, context) === expected.mac,
};

const token: RefreshedToken = {
  familyId: randomUUID(),
  tokenId: randomUUID(),
  epoch: 1,
  expiresAt: new Date('2026-05-01T10:00:00.000Z'),
};

describe('an access token from a refresh', () => {
  it.each<[string, RefreshedToken]>([
    ['without DPoP key', token],
    ['with a DPoP key', { ...token, jkt: 'thumbprint' }],
    ['of fewer rights', { ...token, jkt: 'thumbprint', covered: [0, 2] }],
  ])('%s is read as it was made [T351]', (_, made) => {
    expect(readRefreshedToken(macs, 't', makeRefreshedToken(macs, 't', made))).toEqual(made);
  });

  it('is of one tenant, and no character of it can be changed [T358]', () => {
    const value = makeRefreshedToken(macs, 't', { ...token, covered: [1] });
    expect(readRefreshedToken(macs, 'u', value)).toBeUndefined();
    for (const index of value.split('').keys()) {
      const other = value[index] === 'A' ? 'B' : 'A';
      const changed = `${value.slice(0, index)}${other}${value.slice(index + 1)}`;
      expect([index, readRefreshedToken(macs, 't', changed)]).toEqual([index, undefined]);
    }
    const [content, keyId, mac] = value.split('.');
    for (const malformed of ['', '..', `${content}.${mac}`, `${value}.`, ` ${value}`, `${content}=.${keyId}.${mac}`])
      expect(readRefreshedToken(macs, 't', malformed)).toBeUndefined();
  });

  it('is verified before it is decoded, and bounded', () => {
    const never = {
      verifyMac: () => {
        throw new Error('the MAC of an oversized value was computed');
      },
    };
    expect(readRefreshedToken(never as never, 't', `${'a'.repeat(8193)}.p1.${'m'.repeat(43)}`)).toBeUndefined();
    expect(readRefreshedToken({ verifyMac: () => false }, 't', `bm8.p1.${'m'.repeat(43)}`)).toBeUndefined();
  });
});
