// Jest begins with the files that took longest when it has run before; a fresh clone knows none, and would end with one long file on one core.
import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const LONGEST = [
  'status-lists.int.spec.ts',
  'webhooks.int.spec.ts',
  'copy-events.int.spec.ts',
  'chart.int.spec.ts',
  'postgres.contract.spec.ts',
  'nats.contract.spec.ts',
  'invitations.int.spec.ts',
  'boundaries.int.spec.ts',
  'embedded.contract.spec.ts',
  'wallet-flow.int.spec.ts',
  'analytics.int.spec.ts',
  'canonicalization.spec.ts',
  'select-events.int.spec.ts',
  'renew-certificates.int.spec.ts',
  'cluster.faults.spec.ts',
  'main-thread-budget.soak.spec.ts',
  'crash.soak.spec.ts',
  'long-streams.soak.spec.ts',
  'registry.e2e.spec.ts',
  'unit-gaps.soak.spec.ts',
  'command-line.e2e.spec.ts',
  'refresh.e2e.spec.ts',
  'rate-limits.e2e.spec.ts',
  'sign-in.e2e.spec.ts',
  'first-tenant.e2e.spec.ts',
  'analytics.e2e.spec.ts',
  'custom-domain.e2e.spec.ts',
  'withdrawn-domains.e2e.spec.ts',
  'logging-levels.e2e.spec.ts',
  'management.e2e.spec.ts',
  'unknown-members.e2e.spec.ts',
  'people.e2e.spec.ts',
  'interface.e2e.spec.ts',
  'floods.faults.spec.ts',
  'webhooks.e2e.spec.ts',
  'restoring.e2e.spec.ts',
  'fuzz.e2e.spec.ts',
  'largest-documents.e2e.spec.ts',
  'haip.e2e.spec.ts',
  'issuance.e2e.spec.ts',
  'offers.e2e.spec.ts',
  'end-of-access.e2e.spec.ts',
  'claim-sources.e2e.spec.ts',
  'canary.e2e.spec.ts',
  'durable-waves.e2e.spec.ts',
  'consent.e2e.spec.ts',
  'tenant-shares.e2e.spec.ts',
  'openid-modules.e2e.spec.ts',
  'token-keys.e2e.spec.ts',
  'idempotency.e2e.spec.ts',
  'cluster-command.e2e.spec.ts',
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
