import { AppError, issueCredential, oauthError, type HttpAnswer } from '@attestry/contracts';
import type { Spending } from '@attestry/keys';
import type { WalletRecord } from '../wallet-record/wallet-records.js';
import type { WalletCall, WalletEngines } from './wallet-call.js';
import { WalletEndpoints } from './wallet-endpoints.js';

const now = new Date('2026-05-01T10:00:00Z');
const context = { tenant: { id: 't1', host: 'acme.example', baseUrl: 'https://acme.example' }, requestId: 'r1' };
const refusal = (description = 'no') => oauthError('invalid_credential_request', description);

/** An endpoint on engines of which only those are real that the envelope uses itself; `log` has what happened, in order. */
const open = (headers: Record<string, string> = {}) => {
  const log: unknown[] = [];
  const record = { of: 'the call' } as unknown as WalletRecord;
  const records = {
    record: async (operation: unknown, given: unknown, run: (record: WalletRecord) => Promise<unknown>) => {
      log.push(['record', operation, given]);
      try {
        return await run(record);
      } finally {
        log.push('recorded');
      }
    },
  };
  const dpop = {
    withNonce: async (tenantId: string, answer: Promise<unknown>): Promise<HttpAnswer> => {
      log.push(['nonce', tenantId]);
      return { $http: { body: await answer } } as HttpAnswer;
    },
  };
  const unused = {} as never;
  const endpoints = new WalletEndpoints(
    ...([records, unused, unused, dpop, unused, unused, unused, { now: () => now }] as unknown as ConstructorParameters<
      typeof WalletEndpoints
    >),
  );
  const raw = { method: 'POST', url: '/x', headers, text: 'body' };
  const spending = (isNew: boolean): Spending =>
    ({
      spendAlways: async () => {
        log.push('spent');
        return isNew;
      },
    }) as unknown as Spending;
  return { endpoints, raw, record, log, spending, request: { params: {}, query: {}, body: {}, raw } as never };
};

describe('an endpoint for wallets', () => {
  it('answers after its steps, with what they found', async () => {
    const { endpoints, request, raw, record, log } = open();
    const first = (call: WalletCall, { dpop }: Pick<WalletEngines, 'dpop'>) => {
      log.push(['first', { ...call }, dpop === endpoints.dpop]);
      return { found: 1 };
    };
    const second = async ({ found }: WalletCall & { found: number }) => {
      log.push(['second', found]);
    };
    const third = async ({ found }: WalletCall & { found: number }) => ({ found: found + 1, more: 'x' });
    const execute = endpoints.serve(issueCredential, [first, second, third], {
      answer: async (call: WalletCall & { found: number; more: string }) => ({ ...call }) as never,
    });
    const call = { ...raw, operation: issueCredential, context, tenant: context.tenant, record, now };
    expect(await execute(request, context as never)).toEqual({ ...call, found: 2, more: 'x' });
    expect(log).toEqual([['record', issueCredential, context], ['first', call, true], ['second', 1], 'recorded']);
  });

  it('runs no step after one that refuses, within its record', async () => {
    const { endpoints, request, log } = open();
    const refuse = (): void => {
      throw refusal();
    };
    const never = () => void log.push('never');
    const execute = endpoints.serve(issueCredential, [refuse, never], { answer: async () => never() as never });
    await expect(execute(request, context as never)).rejects.toEqual(refusal());
    expect(log.slice(1)).toEqual(['recorded']);
  });

  it('offers a nonce with the answer to a request with a DPoP proof, also to an empty one, and to no other', async () => {
    for (const [headers, isOffered] of [
      [{ dpop: '' }, true],
      [{ dpop: 'x' }, true],
      [{}, false],
    ] as const) {
      const { endpoints, request, log } = open(headers);
      const execute = endpoints.serve(issueCredential, [], { answer: async () => 'answer' as never });
      expect(await execute(request, context as never)).toEqual(isOffered ? { $http: { body: 'answer' } } : 'answer');
      expect(log.some((it) => Array.isArray(it) && it[0] === 'nonce' && it[1] === 't1')).toBe(isOffered);
    }
  });

  describe('before a refusal', () => {
    const refuse = async (of: { confirm?: () => Promise<void>; isNew?: boolean }, error: unknown) => {
      const { endpoints, request, log, spending } = open();
      const found = {
        ...(of.confirm && { confirm: of.confirm }),
        ...(of.isNew !== undefined && { spending: spending(of.isNew) }),
      };
      const execute = endpoints.serve(issueCredential, [() => found], { answer: () => Promise.reject(error) });
      const thrown = await execute(request, context as never).catch((caught: unknown) => caught);
      return { thrown, isSpent: log.includes('spent') };
    };
    const USED = expect.objectContaining({
      code: 'invalid_dpop_proof',
      message: 'the DPoP proof has already been used',
    });

    it('spends what the call uses once; a value that was used before is the refusal', async () => {
      expect(await refuse({ isNew: true }, refusal())).toEqual({ thrown: refusal(), isSpent: true });
      expect(await refuse({ isNew: false }, refusal())).toEqual({ thrown: USED, isSpent: true });
    });

    it('confirms first what the call was refused for', async () => {
      const ended = refusal('the token has ended');
      const confirm = () => Promise.reject(ended);
      expect(await refuse({ confirm, isNew: true }, refusal())).toEqual({ thrown: ended, isSpent: false });
      expect(await refuse({ confirm: async () => {}, isNew: true }, refusal())).toMatchObject({ isSpent: true });
    });

    it('does neither where the outcome is unknown', async () => {
      const confirm = () => Promise.reject(refusal('confirmed'));
      for (const error of [new AppError('unavailable', 'later'), new Error('broken')])
        expect(await refuse({ confirm, isNew: false }, error)).toEqual({ thrown: error, isSpent: false });
    });
  });
});
