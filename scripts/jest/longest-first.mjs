// Jest begins with the files that took longest when it has run before; a fresh clone knows none, and would end with one long file on one core.
import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const LONGEST = [
  'cluster.faults.spec.ts',
  'main-thread-budget.soak.spec.ts',
  'crash.soak.spec.ts',
  'long-streams.soak.spec.ts',
  'unit-gaps.soak.spec.ts',
  'registry.e2e.spec.ts',
  'webhooks.int.spec.ts',
  'mobile-status-lists.int.spec.ts',
  'publish-status-lists.int.spec.ts',
  'masked-lists.int.spec.ts',
  'restoring.e2e.spec.ts',
  'rate-limits.e2e.spec.ts',
  'postgres-traffic.e2e.spec.ts',
  'command-line.e2e.spec.ts',
  'analytics.e2e.spec.ts',
  'end-of-access.e2e.spec.ts',
  'interface.e2e.spec.ts',
  'fuzz.e2e.spec.ts',
  'webhooks.e2e.spec.ts',
  'tenant-shares.e2e.spec.ts',
  'nats.contract.spec.ts',
  'haip.e2e.spec.ts',
  'logging-levels.e2e.spec.ts',
  'first-tenant.e2e.spec.ts',
  'sign-in.e2e.spec.ts',
  'analytics.int.spec.ts',
  'people.e2e.spec.ts',
  'copy-events.int.spec.ts',
  'postgres.contract.spec.ts',
  'refresh.e2e.spec.ts',
  'largest-documents.e2e.spec.ts',
  'withdrawn-domains.e2e.spec.ts',
  'offers.e2e.spec.ts',
  'idempotency.e2e.spec.ts',
  'durable-waves.e2e.spec.ts',
  'built-in-sign-in.int.spec.ts',
  'management.e2e.spec.ts',
  'consent.e2e.spec.ts',
  'unknown-members.e2e.spec.ts',
  'custom-domain.e2e.spec.ts',
  'eventstoredb.contract.spec.ts',
  'claim-sources.e2e.spec.ts',
  'openid-modules.e2e.spec.ts',
  'json-revocation.e2e.spec.ts',
  'chart.int.spec.ts',
  'invitations.int.spec.ts',
  'boundaries.int.spec.ts',
  'event-file.int.spec.ts',
  'inner-providers.e2e.spec.ts',
  'token-keys.e2e.spec.ts',
  'mobile.e2e.spec.ts',
  'ldp-vc.int.spec.ts',
  'doctor.e2e.spec.ts',
  'select-events.int.spec.ts',
  'public-targets.e2e.spec.ts',
  'embedded.contract.spec.ts',
  'cluster-command.e2e.spec.ts',
  'issuer-signers.int.spec.ts',
  'dids.int.spec.ts',
  'canonicalization.spec.ts',
  'refusal-logs.e2e.spec.ts',
  'canary.e2e.spec.ts',
  'credential-path.e2e.spec.ts',
  'open-engines.int.spec.ts',
  'unread-answers.int.spec.ts',
  'sign-in.int.spec.ts',
  'moving.e2e.spec.ts',
  'upgrade.e2e.spec.ts',
  'postgres-read-models.int.spec.ts',
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
