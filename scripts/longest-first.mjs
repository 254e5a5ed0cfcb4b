// Jest's order by size of file, but for the few that take minutes: begun last, they would keep one of two workers waiting.
import TestSequencer from '@jest/test-sequencer';

const LONGEST = [
  ...['main-thread-budget.e2e', 'long-streams.e2e'],
  ...['crash.e2e', 'one-platform.e2e', 'one-platform-with-surroundings.e2e', 'rate-limits.e2e', 'restoring.e2e'],
  ...['webhooks.e2e', 'webhooks.int'],
  // A few lines each, that run others.
  ...['webhooks', 'analytics', 'tenant-config', 'dids', 'management', 'issuance'].map((name) => `${name}.postgres.int`),
];
const rank = ({ path }) => {
  const index = LONGEST.findIndex((name) => path.includes(`/${name}.spec.`));
  return index < 0 ? LONGEST.length : index;
};

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
}
