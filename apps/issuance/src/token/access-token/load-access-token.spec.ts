import type { Loaded, Streams } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import type { IssuanceSessionState, RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { loadAccessToken } from './load-access-token.js';

const now = new Date('2026-05-01T10:00:00Z');
const SESSION = '11111111-1111-4111-8111-111111111111';
const token = makeBearerValue(SESSION, '22222222-2222-4222-8222-222222222222');
const macOf = (secret: string, context?: string) => `${secret}|${context}`;
const mac = macOf(token.value, `access:t1+${SESSION}`);

const redeemed = (more: Partial<RedeemedSession['accessToken']> = {}): RedeemedSession => ({
  status: 'redeemed',
  id: SESSION,
  origin: { kind: 'preAuthorizedOffer', sealedDocument: '' },
  issuer: 'https://acme.example',
  binding: 'none',
  userId: 'u1',
  entries: [],
  issued: {},
  accessToken: {
    tokenId: token.tokenId,
    kind: 'access',
    mac,
    keyId: 'p1',
    expiresAt: '2026-05-01T10:05:00.000Z',
    ...more,
  },
});

/** Loads give these states in turn, of which the first is cached. */
const load = async (states: IssuanceSessionState[], scheme: 'bearer' | 'dpop' = 'bearer') => {
  const verified: string[] = [];
  const macs = {
    mac: (secret: string, context?: string): SecretMac => ({ pepper: 'p1', mac: macOf(secret, context) }),
    verifyMac: (secret: string, expected: SecretMac, context?: string) => {
      verified.push(expected.mac);
      return expected.pepper === 'p1' && expected.mac === macOf(secret, context);
    },
  };
  let loads = 0;
  const streams = {
    load: async () => ({ state: states[loads], cached: loads++ === 0 }) as Loaded<IssuanceSessionState>,
  } as unknown as Streams;
  const record = { nameSession: () => undefined } as unknown as WalletRecord;
  const presented = loadAccessToken(
    { scheme, token: token.value, tenant: { id: 't1' }, now, record } as never,
    { streams, macs } as never,
  );
  return { presented, verified, loads: () => loads };
};

describe('load-access-token', () => {
  it('computes the MAC once for every state with the same grant', async () => {
    const { presented, verified, loads } = await load([redeemed(), { ...redeemed(), issued: { c1: 1 } }]);
    const { requireSession, confirm, session } = await presented;
    expect(session.status).toBe('redeemed');
    expect(requireSession({ ...redeemed(), issued: { c1: 2 } }).issued).toEqual({ c1: 2 });
    await confirm();
    expect([verified, loads()]).toEqual([[mac], 2]);
  });

  it('verifies again when a later state has another MAC or pepper, and refuses it', async () => {
    const { presented, verified } = await load([redeemed()]);
    const { requireSession } = await presented;
    expect(() => requireSession(redeemed({ mac: 'other' }))).toThrow('the access token is not valid');
    expect(() => requireSession(redeemed({ keyId: 'p2' }))).toThrow('the access token is not valid');
    expect(verified).toEqual([mac, 'other', mac]);
  });

  it('refuses a verified token that has expired, was removed, or whose session ended', async () => {
    const { presented } = await load([redeemed()]);
    const { requireSession } = await presented;
    for (const state of [
      redeemed({ expiresAt: '2026-05-01T10:00:00.000Z' }),
      redeemed({ tokenId: 'another' }),
      { status: 'deleted', id: SESSION } as const,
    ])
      expect(() => requireSession(state)).toThrow('the access token is not valid');
  });

  it('challenges with DPoP for a bound token, and for the scheme DPoP, otherwise with Bearer', async () => {
    const ended = '2026-05-01T10:00:00.000Z';
    for (const [scheme, more, challenge] of [
      ['bearer', { jkt: 'k', expiresAt: ended }, 'DPoP'],
      ['dpop', { expiresAt: ended }, 'DPoP'],
      ['bearer', { expiresAt: ended }, 'Bearer'],
      ['bearer', { jkt: 'k', tokenId: 'another' }, 'Bearer'],
    ] as const) {
      const { presented } = await load([redeemed(more), redeemed(more)], scheme);
      await expect(presented).rejects.toMatchObject({
        code: 'invalid_token',
        headers: { 'www-authenticate': expect.stringMatching(new RegExp(`^${challenge} error="invalid_token"`)) },
      });
    }
  });

  it('refuses only on the stored state: a cached one without the token is loaded again', async () => {
    const { presented, loads } = await load([redeemed({ tokenId: 'another' }), redeemed()]);
    await expect(presented).resolves.toMatchObject({ tokenId: token.tokenId });
    expect(loads()).toBe(2);
    const wrong = await load([redeemed({ mac: 'other' }), redeemed({ mac: 'other' })]);
    await expect(wrong.presented).rejects.toThrow('the access token is not valid');
    expect(wrong.verified).toEqual(['other', 'other']);
  });
});
