import { specsByProject } from './scripts/test-levels.mjs';

const base = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/scripts/jest/environment.mjs',
  testRunner: '<rootDir>/scripts/jest/test-runner.mjs',
  // Node loads the files: see scripts/jest/typescript.mjs.
  transform: {},
  modulePathIgnorePatterns: ['/dist/', '/.nx/'],
  // Jest begins with the files that took longest, which it keeps here.
  cacheDirectory: '<rootDir>/.nx/jest',
};
const tearDown = { globalTeardown: '<rootDir>/scripts/jest/started.mjs' };
const onePlatform = {
  globalSetup: '<rootDir>/scripts/jest/e2e-setup.mjs',
  globals: { platformMode: 'embedded' },
  ...tearDown,
};
/** Settings of projects for which something starts before their specs. */
const settings = {
  'int-postgres': {
    globalSetup: '<rootDir>/scripts/jest/postgres-setup.mjs',
    globals: { serviceEngines: 'postgres' },
    ...tearDown,
  },
  e2e: onePlatform,
  soak: onePlatform,
  cluster: {
    globalSetup: '<rootDir>/scripts/jest/cluster-setup.mjs',
    globals: { platformMode: 'cluster' },
    ...tearDown,
  },
};
export default {
  // Engines and clusters start and keys are generated on a busy machine: the limit ends a test that hangs.
  testTimeout: 90_000,
  testSequencer: '<rootDir>/scripts/jest/longest-first.mjs',
  projects: Object.entries(specsByProject()).map(([displayName, specs]) => ({
    ...base,
    ...settings[displayName],
    displayName,
    testMatch: specs.map((file) => `<rootDir>/${file}`),
  })),
};
