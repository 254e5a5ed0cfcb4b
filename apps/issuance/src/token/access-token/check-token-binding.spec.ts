import { issueCredential, type AppError } from '@attestry/contracts';
import type { Spending } from '@attestry/keys';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { checkTokenBinding, spendProof } from './check-token-binding.js';

const tenant = { id: 't1', host: 'acme.example', baseUrl: 'https://acme.example' };
const proof = { jkt: 'k1', jti: 'j1' } as unknown as DpopProof;

/** Outcome of the check of a request with a token that is bound to `jkt`; `verified` has how its proof was asked for. */
const check = async (scheme: 'bearer' | 'dpop', jkt?: string, found: DpopProof | undefined = proof) => {
  const verified: unknown[] = [];
  const dpop = {
    verifyProof: async (...asked: unknown[]) => {
      verified.push(asked);
      return found;
    },
    spendingOf: (...of: unknown[]) => ({ of }),
  };
  const call = { scheme, token: 'token', tenant, operation: issueCredential, session: { accessToken: { jkt } } };
  try {
    return { answer: await checkTokenBinding(call as never, { dpop } as never), verified, call };
  } catch (error) {
    const { code, message, headers } = error as AppError;
    return { refused: [code, message, headers?.['www-authenticate']], verified, call };
  }
};

describe('check-token-binding', () => {
  it('asks for no proof of a token that is not bound', async () => {
    expect(await check('bearer')).toMatchObject({ answer: {}, verified: [] });
    expect((await check('bearer')).answer).toEqual({});
  });

  it('returns the proof of a bound token, not yet spent', async () => {
    const { answer, verified, call } = await check('dpop', 'k1');
    expect(answer).toEqual({ proof, spending: { of: ['t1', proof] } });
    expect(verified).toEqual([[call, issueCredential, tenant, 'token']]);
  });

  it.each([
    [
      'dpop',
      undefined,
      proof,
      ['invalid_token', 'the access token is not bound to a DPoP key: send it with the scheme Bearer', 'Bearer'],
    ],
    [
      'bearer',
      'k1',
      proof,
      ['invalid_token', 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof', 'DPoP'],
    ],
    ['dpop', 'k1', undefined, ['invalid_dpop_proof', 'a DPoP proof is required', 'DPoP']],
    [
      'dpop',
      'k2',
      proof,
      ['invalid_dpop_proof', 'the DPoP proof must be made with the key of the access token', 'DPoP'],
    ],
  ] as const)(
    'refuses the scheme %s for a token of the key %s',
    async (scheme, jkt, found, [code, message, challenge]) => {
      const { refused } = await check(scheme, jkt, found ?? (null as never));
      expect(refused).toEqual([code, message, expect.stringMatching(new RegExp(`^${challenge} `))]);
    },
  );

  it('names the rule', async () => {
    const call = { scheme: 'dpop', session: { accessToken: {} } };
    await expect(checkTokenBinding(call as never, {} as never)).rejects.toMatchObject({ check: 'check-token-binding' });
  });
});

describe('spend-proof', () => {
  it('spends what the call uses once, if anything', async () => {
    let stored = 0;
    const spending = { store: async () => void (stored += 1) } as unknown as Spending;
    await spendProof({ spending } as never);
    expect(stored).toBe(1);
    expect(spendProof({} as never)).toBeUndefined();
  });
});
