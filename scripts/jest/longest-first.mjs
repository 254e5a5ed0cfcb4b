// Jest begins with the files that took longest when it has run before; a fresh clone knows none, and would end with one long file on one core.
import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const LONGEST = [
  'status-lists.int.spec.ts',
  'webhooks.int.spec.ts',
  'postgres.contract.spec.ts',
  'nats.contract.spec.ts',
  'analytics.int.spec.ts',
  'invitations.int.spec.ts',
  'embedded.contract.spec.ts',
  'copy-events.int.spec.ts',
  'boundaries.int.spec.ts',
  'wallet-flow.int.spec.ts',
  'main-thread-budget.e2e.spec.ts',
  'crash.e2e.spec.ts',
  'long-streams.e2e.spec.ts',
  'unit-gaps.e2e.spec.ts',
  'registry.e2e.spec.ts',
  'openid-modules.e2e.spec.ts',
  'logging-levels.e2e.spec.ts',
  'token-keys.e2e.spec.ts',
  'analytics.e2e.spec.ts',
  'rate-limits.e2e.spec.ts',
  'webhooks.e2e.spec.ts',
  'end-of-access.e2e.spec.ts',
  'idempotency.e2e.spec.ts',
  'tenant-shares.e2e.spec.ts',
];
const rank = ({ path }) => {
  const at = LONGEST.indexOf(basename(path));
  return at < 0 ? LONGEST.length : at;
};

export default class LongestFirst extends TestSequencer {
  /** Stable: the others stay in Jest's own order. */
  sort(tests) {
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
