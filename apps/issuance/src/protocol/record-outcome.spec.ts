import {
  AppError,
  exchangeToken,
  oauthError,
  type OperationContext,
  type OperationEventMessage,
} from '@attestry/contracts';
import { randomIds, systemClock } from '@attestry/event-store';
import type { MessageBus, OutgoingMessage } from '@attestry/messaging';
import { OperationRecorder } from '@attestry/service-kit';
import { pino } from 'pino';
import { recordOutcome, type StartRecord } from './record-outcome.js';

const context: OperationContext = {
  caller: { kind: 'holder' },
  requestId: 'r1',
  operation: exchangeToken.name,
  deadline: 0,
  publicUrl: '',
};

/** The part of the feed that the recorder uses; `refuse` names the outcome that cannot be written. */
const feed = (refuse?: string) => {
  const written: string[] = [];
  const publish = async ([message]: readonly OutgoingMessage[]) => {
    const { outcome, metadata } = message!.data as OperationEventMessage;
    if (outcome === refuse) throw new Error('disk full');
    const { error } = metadata as { error?: { status: number; code: string } };
    written.push(error ? `${outcome} ${error.status} ${error.code}` : outcome);
  };
  const recorder = new OperationRecorder({ publish } as unknown as MessageBus, systemClock, randomIds, 'issuance');
  const logged: unknown[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line) => logged.push(JSON.parse(line)) });
  const run = <T>(work: (start: StartRecord) => Promise<T>) =>
    recordOutcome(recorder, logger, exchangeToken, context, work);
  return { written, logged, run };
};

describe('the record of a wallet operation', () => {
  it('is START and one outcome', async () => {
    const { written, run } = feed();
    await expect(
      run(async (start) => {
        start.writeStart();
        start.writeStart();
        await start.acknowledged();
        return 'done';
      }),
    ).resolves.toBe('done');
    expect(written).toEqual(['START', 'SUCCESS']);
  });

  it('records a refusal as it is returned, and hides unexpected errors', async () => {
    const refusedBy = async (error: Error) => {
      const { written, run } = feed();
      const result = run(async (start) => {
        start.writeStart();
        throw error;
      });
      await expect(result).rejects.toBeInstanceOf(AppError);
      return written;
    };
    expect(await refusedBy(oauthError('invalid_grant', 'no'))).toEqual(['START', 'FAIL 400 invalid_grant']);
    expect(await refusedBy(new Error('secret'))).toEqual(['START', 'FAIL 500 InternalError']);
  });

  it('is empty for unknown callers', async () => {
    const { written, run } = feed();
    await expect(run(async () => Promise.reject(oauthError('invalid_grant', 'no')))).rejects.toMatchObject({
      code: 'invalid_grant',
    });
    expect(written).toEqual([]);
  });

  it('is nothing for the answer to an unknown caller either', async () => {
    const { written, run } = feed();
    await expect(run(async () => 'done')).resolves.toBe('done');
    expect(written).toEqual([]);
  });

  it('names the reason for which nothing happens without START', async () => {
    const { run } = feed('START');
    await expect(run(async (start) => start.writeStart())).rejects.toMatchObject({
      message: 'Service temporarily unavailable',
      cause: new Error('disk full'),
    });
  });

  it('permits no effect without START', async () => {
    const { written, run } = feed('START');
    let effect = false;
    const result = run(async (start) => {
      start.writeStart();
      await start.acknowledged();
      effect = true;
    });
    await expect(result).rejects.toMatchObject({ kind: 'unavailable' });
    expect([effect, written]).toEqual([false, []]);
  });

  it('returns no result without START, also for calls without effect', async () => {
    const { written, run } = feed('START');
    await expect(run(async (start) => start.writeStart())).rejects.toMatchObject({ kind: 'unavailable' });
    expect(written).toEqual([]);
  });

  it('does not change the result when the outcome cannot be written, and logs the failure', async () => {
    const { written, logged, run } = feed('SUCCESS');
    const result = run(async (start) => {
      start.writeStart();
      return 'done';
    });
    await expect(result).resolves.toBe('done');
    expect(written).toEqual(['START']);
    const lost = { requestId: 'r1', error: 'Error: disk full', msg: 'operation event not recorded' };
    expect(logged).toEqual([expect.objectContaining(lost)]);
  });

  it('returns a refusal although its outcome cannot be written', async () => {
    const { written, logged, run } = feed('FAIL');
    const result = run(async (start) => {
      start.writeStart();
      throw oauthError('invalid_grant', 'no');
    });
    await expect(result).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(written).toEqual(['START']);
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'operation event not recorded' }));
  });
});
