import { outcomeLabel } from './observe-attempts.js';

describe('the outcome of an attempt, as a label', () => {
  it.each([
    [{ status: 200 }, 'delivered'],
    [{ status: 204 }, 'delivered'],
    [{ status: 302 }, 'redirect'],
    [{ status: 410 }, 'refused'],
    [{ status: 500 }, 'failed'],
    [{ status: 799 }, 'failed'],
    [{ error: 'timeout' }, 'timeout'],
    [{ error: 'target-refused' }, 'target-refused'],
    [{ error: 'ECONNREFUSED' }, 'unreachable'],
    [{ error: 'SOMETHING_A_TARGET_MADE_UP' }, 'unreachable'],
    [{ error: 'signing-key-missing' }, 'key-missing'],
    [{ error: 'credential-seal-broken' }, 'key-missing'],
    [{ error: 'credential-missing' }, 'key-missing'],
  ])('of %j is %s', (outcome, label) => expect(outcomeLabel(outcome)).toBe(label));
});
