import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
/** Packages that CommonJS must load as such: Jest takes the same conditions for `require` as for `import`. */
const asCommonJs = ['pg', 'pg-connection-string', 'pg-pool', 'pg-protocol', 'structured-headers'];

// Levels by suffix: .spec.ts (pure), .int.spec.ts (one service, embedded adapters), .contract.spec.ts (every adapter of a port), .e2e.spec.ts (processes over HTTP), .faults.spec.ts (a cluster that things are done to).
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
  setupFiles: ['reflect-metadata'],
};
const ignored = ['/node_modules/', '/dist/'];
const level = (displayName, ending, testPathIgnorePatterns = ignored) => ({
  ...base,
  displayName,
  testMatch: [`<rootDir>/{libs,apps,bench,deploy}/**/*${ending}`],
  testPathIgnorePatterns,
});
export default {
  // Engines start and keys are made on a busy machine: the limit is there to end a test that hangs, not to time one.
  testTimeout: 30_000,
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  projects: [
    level('unit', '.spec.ts', [...ignored, '\\.(int|contract|e2e|faults)\\.spec\\.ts$']),
    level('contracts', '.contract.spec.ts'),
    level('int', '.int.spec.ts'),
    level('e2e', '.e2e.spec.ts'),
    level('faults', '.faults.spec.ts'),
  ],
};
