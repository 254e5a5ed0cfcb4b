import { AppError, unavailable } from '@attestry/contracts';
import { EventStoreUnavailable, WrongExpectedRevision } from '@attestry/event-store';
import { leavesUnusedKeys } from './seal-for-new.js';

const retried = { idempotentCall: {} } as never;

describe('keys of a failed creation', () => {
  it.each([
    ['a refusal', new AppError('conflict', 'taken')],
    ['a lost race', new WrongExpectedRevision('stream', 0, 1)],
  ])('%s leaves them unused, unless the call may be retried', (_name, error) => {
    expect(leavesUnusedKeys({}, error)).toBe(true);
    expect(leavesUnusedKeys(retried, error)).toBe(false);
  });

  it.each([
    ['an engine that failed', new EventStoreUnavailable('down')],
    ['an answer that failed after the event', unavailable()],
  ])('%s may have stored the event that names them', (_name, error) => {
    expect(leavesUnusedKeys({}, error)).toBe(false);
  });
});
