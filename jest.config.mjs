// Levels by suffix: .spec.ts (pure), .int.spec.ts (one service, embedded adapters), .contract.spec.ts (every adapter of a port), .e2e.spec.ts (processes over HTTP).
const base = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@attestry/source', 'node', 'node-addons', 'import'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', { swcrc: true }] },
  modulePathIgnorePatterns: ['/dist/', '/.nx/'],
  setupFiles: ['reflect-metadata'],
};
const roots = '<rootDir>/{libs,apps,bench}/**';
export default {
  projects: [
    { ...base, displayName: 'unit', testMatch: [`${roots}/*.spec.ts`], testPathIgnorePatterns: ['\\.(int|contract|e2e)\\.spec\\.ts$', '/dist/'] },
    { ...base, displayName: 'contracts', testMatch: [`${roots}/*.contract.spec.ts`] },
    { ...base, displayName: 'int', testMatch: [`${roots}/*.int.spec.ts`] },
    { ...base, displayName: 'e2e', testMatch: [`${roots}/*.e2e.spec.ts`] },
  ],
};
