// Suites of the command `test`: Jest projects of test-levels.mjs that run together.
/** Milliseconds. */
export const minute = 60_000;
// More than two on two cores: these wait for engines and timers as much as they compute.
const quick = ['--maxWorkers=4', '--workerIdleMemoryLimit=768MB'];
/** Jest runs; the group `standard` is `npm test`, which alone proves the statements of the specifications. */
export const suites = [
  { name: 'quick', group: 'standard', projects: ['unit', 'contracts', 'int'], args: quick, limit: 15 * minute },
  { name: 'e2e', group: 'standard', projects: ['e2e'], args: ['--maxWorkers=3'], limit: 15 * minute },
  // The same tests on real engines, and on one process for each service.
  {
    name: 'engines',
    group: 'engines',
    projects: ['int-postgres', 'cluster'],
    args: ['--maxWorkers=3', '--workerIdleMemoryLimit=768MB'],
    limit: 22 * minute,
  },
  // Measured in CPU time and counts: it takes what the faults, which mostly wait, leave of the machine.
  { name: 'load', group: 'soak', projects: ['soak'], args: ['--maxWorkers=2'], limit: 25 * minute, nice: 10 },
  // A new seed each time, which is printed; `npm run test:faults` can repeat one.
  { name: 'faults', group: 'soak', projects: ['faults'], args: ['--runInBand'], limit: 15 * minute },
  { name: 'upgrades', group: 'soak', projects: ['upgrades'], args: ['--runInBand'], limit: 8 * minute },
];
