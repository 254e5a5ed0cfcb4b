import { recordSubject } from '@attestry/contracts';
import { receivedMessage } from './received-messages.js';

const TIME = '2026-11-21T10:00:00.000Z';
const call = {
  tenantId: '11111111-1111-4111-8111-111111111111',
  requestId: 'r1',
  operation: 'dids.create-did',
  prefix: 'DID_CREATE',
  category: 'did',
};
const more = { start: { limit: 3 }, object: { type: 'did', id: 'd1' }, isManagement: true, about: 'platform' };
const MESSAGES = {
  record: [recordSubject('record', 'dids'), { ...call, ...more, startedAt: TIME, endedAt: TIME, outcome: 'FAIL' }],
  started: [recordSubject('started', 'dids'), { ...call, ...more, startedAt: TIME, deadline: 1 }],
  recorder: [recordSubject('recorder', 'dids'), { instance: 'i', participant: 'dids', state: 'alive', at: TIME }],
} as const;

const received = (subject: string, data: unknown) =>
  receivedMessage({ id: 'm', subject, data, headers: {}, sequence: '1', attempt: 1 });

describe.each(Object.entries(MESSAGES))('a message of the kind %s', (kind, [subject, data]) => {
  it('is received as it was sent', () => {
    expect(received(subject, { ...data, unknown: 1 })).toMatchObject({ kind, data: { ...data, unknown: 1 } });
  });

  it.each(Object.keys(data))('is malformed where %s has another shape', (member) => {
    for (const value of [null, ['x'], ' '.repeat(300_000)])
      expect(received(subject, { ...data, [member]: value })).toMatchObject({ kind: 'malformed' });
  });

  it('is malformed without data, or with a time that is none', () => {
    const time = Object.keys(data).find((name) => (data as Record<string, unknown>)[name] === TIME)!;
    for (const other of [null, undefined, 'text', [], {}, { ...data, [time]: '2026-13-41T10:00:00.000Z' }])
      expect(received(subject, other)).toMatchObject({ kind: 'malformed' });
  });
});

describe('messages of a service about operations of another', () => {
  it('are none', () => {
    expect(received('operation.webhooks.record', MESSAGES.record[1])).toBeUndefined();
    expect(received('operation.gateway.record', MESSAGES.record[1])).toMatchObject({ kind: 'record' });
  });
});
