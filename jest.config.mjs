import { createRequire } from 'node:module';
import { specsByProject } from './scripts/test-levels.mjs';

const { resolve } = createRequire(import.meta.url);
/** Packages that CommonJS must load as such: Jest takes the same conditions for `require` as for `import`. */
const asCommonJs = ['pg', 'pg-connection-string', 'pg-pool', 'pg-protocol', 'structured-headers', 'tslib'];

const base = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@attestry/source', 'node', 'node-addons', 'import'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    ...Object.fromEntries(asCommonJs.map((name) => [`^${name}$`, resolve(name)])),
    // Its ES modules import JSON in a way that Jest warns of at each file: its CommonJS entry does not.
    '^libphonenumber-js/max$': resolve('libphonenumber-js/max'),
  },
  transform: { '^.+\\.ts$': ['@swc/jest', { swcrc: true }] },
  modulePathIgnorePatterns: ['/dist/', '/.nx/'],
  // Jest begins with the files that took longest, which it keeps here.
  cacheDirectory: '<rootDir>/.nx/jest',
  setupFiles: ['reflect-metadata'],
};
const tearDown = { globalTeardown: '<rootDir>/scripts/jest/started.mjs' };
const onePlatform = {
  globalSetup: '<rootDir>/scripts/jest/e2e-setup.mjs',
  globals: { platformMode: 'embedded' },
  ...tearDown,
};
/** What starts before the specs of a project. */
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
