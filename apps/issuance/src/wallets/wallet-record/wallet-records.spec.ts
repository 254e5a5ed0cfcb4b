import { setImmediate as turn } from 'node:timers/promises';
import {
  AppError,
  completeAuthorization,
  exchangeToken,
  oauthError,
  recordSubject,
  type Operation,
  type OperationContext,
  type OperationRecord,
  type OperationRecordMessage,
} from '@attestry/contracts';
import { randomIds } from '@attestry/event-store';
import type { MessageBus, OutgoingMessage } from '@attestry/messaging';
import { OperationRecorder } from '@attestry/service-kit';
import { pino } from 'pino';
import { WalletRecords, type WalletRecord } from './wallet-records.js';

const context: OperationContext & { tenant: NonNullable<OperationContext['tenant']> } = {
  tenant: { id: 't1', host: 'acme.example', baseUrl: 'https://acme.example' },
  caller: { kind: 'holder' },
  requestId: 'r1',
  operation: exchangeToken.name,
  deadline: 0,
};
const at = '2026-01-02T03:04:05.678Z';
const session = {
  id: 's1',
  userId: 'u1',
  origin: { kind: 'preAuthorizedOffer' as const, sealedDocument: '' },
};
const IDS = { sessionId: 's1', offerId: 's1', userId: 'u1' };

/** The part of the feed that the recorder uses; `refuse` names the kind of message that cannot be written. */
const feed = (operation: Operation = exchangeToken, refuse?: 'record' | 'started', held?: Promise<void>) => {
  const written: { kind: string; message: OperationRecordMessage }[] = [];
  const publish = async (messages: readonly OutgoingMessage[]) => {
    await held;
    for (const { subject, data } of messages) {
      const kind = subject.split('.')[2]!;
      if (kind === refuse) throw new Error('disk full');
      expect(subject).toBe(recordSubject(kind as 'record', 'issuance'));
      written.push({ kind, message: data as OperationRecordMessage });
    }
  };
  const logged: unknown[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line) => logged.push(JSON.parse(line)) });
  const clock = { now: () => new Date(at) };
  const bus = { publish } as unknown as MessageBus;
  const recorder = new OperationRecorder({ bus, clock, ids: randomIds, logger }, 'issuance');
  const run = async <T>(work: (record: WalletRecord) => Promise<T>, onAnswer = () => {}): Promise<T> => {
    try {
      const answer = await new WalletRecords(recorder, clock, logger).record(operation, context, work);
      onAnswer();
      return answer;
    } finally {
      if (!refuse) await recorder.flush();
    }
  };
  return { written, logged, run };
};

/** Appends an event, as `Streams` does. */
const append = ({ events }: WalletRecord): OperationRecord => {
  const record = events.record!;
  const stored = record.recordFor('issuanceSession-t1+s1', { type: 'X', data: {} }) as OperationRecord;
  record.isStored = true;
  return stored;
};
const refusal = () => oauthError('invalid_grant', 'no');
const error = { status: 400, code: 'invalid_grant', message: 'no' };

describe('the record of a wallet operation', () => {
  it('is in the event that the call appends, with the ids it names, and nothing is sent', async () => {
    const { written, run } = feed();
    const stored = await run(async (record) => {
      record.nameSession(session);
      record.addMetadata({ credentialIds: ['c1'] });
      return append(record);
    });
    expect(stored).toEqual({
      prefix: 'OPENID_TOKEN',
      category: exchangeToken.analytics!.category,
      startedAt: at,
      outcome: 'SUCCESS',
      metadata: { ...IDS, credentialIds: ['c1'] },
      object: { type: 'session', id: 's1' },
    });
    expect(written).toEqual([]);
  });

  it('is FAIL in an event that records a refusal, and only there', async () => {
    const { written, run } = feed();
    let stored: OperationRecord | undefined;
    const result = run(async (record) => {
      record.nameSession(session);
      record.setRefusal(refusal());
      stored = append(record);
      throw refusal();
    });
    await expect(result).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(stored).toMatchObject({ outcome: 'FAIL', metadata: { ...IDS, error } });
    expect(written).toEqual([]);
  });

  it('follows the decision that was stored, not one that was made before it', async () => {
    const { run } = feed();
    const stored = await run(async (record) => {
      record.nameSession(session);
      record.setRefusal(refusal());
      record.setRefusal(undefined);
      return append(record);
    });
    expect([stored.outcome, stored.metadata]).toEqual(['SUCCESS', IDS]);
  });

  it('of a refusal without an event is a message, and hides unexpected errors', async () => {
    const refusedBy = async (thrown: Error) => {
      const { written, run } = feed();
      const result = run(async (record) => {
        record.nameSession(session);
        throw thrown;
      });
      await expect(result).rejects.toBeInstanceOf(AppError);
      return written;
    };
    const [{ kind, message } = { kind: undefined, message: undefined }] = await refusedBy(refusal());
    expect(kind).toBe('record');
    expect(message).toMatchObject({
      outcome: 'FAIL',
      tenantId: 't1',
      requestId: 'r1',
      operation: exchangeToken.name,
      endedAt: at,
      metadata: { ...IDS, error },
      object: { type: 'session', id: 's1' },
    });
    const hidden = await refusedBy(new Error('secret'));
    expect(hidden[0]!.message.metadata).toEqual({
      ...IDS,
      error: { status: 500, code: 'InternalError', message: 'Internal error' },
    });
  });

  it('that is a message does not hold back the answer', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { written, run } = feed(exchangeToken, undefined, held);
    let isAnswered = false;
    const result = run(
      async (record) => {
        record.nameSession(session);
        return 'done';
      },
      () => (isAnswered = true),
    );
    await turn();
    expect([isAnswered, written]).toEqual([true, []]);
    release();
    await result;
    expect(written.map(({ kind }) => kind)).toEqual(['record']);
  });

  it('is empty for unknown callers', async () => {
    const { written, run } = feed();
    await expect(run(async () => Promise.reject(refusal()))).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(written).toEqual([]);
  });

  it('names a registered wallet, also before there is a session', async () => {
    const { written, run } = feed();
    await run(async (record) => record.nameWallet({ id: 'w1' }));
    expect(written.map(({ message: { outcome, object, metadata } }) => [outcome, object, metadata])).toEqual([
      ['SUCCESS', { type: 'wallet', id: 'w1' }, { walletId: 'w1' }],
    ]);
  });

  it('is nothing for the answer to an unknown caller either', async () => {
    const { written, run } = feed();
    await expect(run(async () => 'done')).resolves.toBe('done');
    expect(written).toEqual([]);
  });
});

describe('a wallet operation with effects outside its append', () => {
  it('is a START, acknowledged before its effects, and an outcome acknowledged before the answer', async () => {
    const { written, run } = feed(completeAuthorization);
    const result = run(async (record) => {
      await record.start();
      expect(written.map(({ kind }) => kind)).toEqual(['started']);
      throw refusal();
    });
    await expect(result).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(written.map(({ kind, message }) => [kind, message.prefix, message.requestId])).toEqual([
      ['started', 'OPENID_AUTHENTICATION_CALLBACK', 'r1'],
      ['record', 'OPENID_AUTHENTICATION_CALLBACK', 'r1'],
    ]);
    expect(written[0]!.message).toMatchObject({ startedAt: at, deadline: 0 });
    expect(written[0]!.message).not.toHaveProperty('outcome');
  });

  it('has its outcome in the event that it appends', async () => {
    const { written, run } = feed(completeAuthorization);
    const stored = await run(async (record) => {
      await record.start();
      record.nameSession({ id: 's1', userId: 'u1' });
      return append(record);
    });
    expect(stored.metadata).toEqual({ sessionId: 's1', userId: 'u1' });
    expect(written.map(({ kind }) => kind)).toEqual(['started']);
  });

  it('names the reason for which nothing happens without START', async () => {
    const { run } = feed(completeAuthorization, 'started');
    await expect(run(async (record) => record.start())).rejects.toMatchObject({
      message: 'Service temporarily unavailable',
      cause: new Error('disk full'),
    });
  });

  it('permits no effect without START', async () => {
    const { run } = feed(completeAuthorization, 'started');
    let effect = false;
    const result = run(async (record) => {
      await record.start();
      effect = true;
    });
    await expect(result).rejects.toMatchObject({ kind: 'unavailable' });
    expect(effect).toBe(false);
  });

  it('does not change the result when the outcome cannot be written, and logs the failure', async () => {
    const { written, logged, run } = feed(completeAuthorization, 'record');
    const result = run(async (record) => {
      await record.start();
      return 'done';
    });
    await expect(result).resolves.toBe('done');
    expect(written.map(({ kind }) => kind)).toEqual(['started']);
    const lost = { requestId: 'r1', error: 'Error: disk full', msg: 'operation event not recorded' };
    expect(logged).toEqual([expect.objectContaining(lost)]);
  });

  it('returns a refusal although its outcome cannot be written', async () => {
    const { logged, run } = feed(completeAuthorization, 'record');
    const result = run(async (record) => {
      await record.start();
      throw refusal();
    });
    await expect(result).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'operation event not recorded' }));
  });
});
