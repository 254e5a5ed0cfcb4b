// Tools that run parts of the platform in the process of the test. An entry of its own: it loads service kit, keys and read models, for
// which the many specs that only send requests would wait.
export * from './cluster/cluster-stores.js';
export * from './credential-flow.js';
export * from './describe-idempotency.js';
export * from './describe-purged-tenants.js';
export * from './engines-under-test.js';
export * from './issuance-under-test.js';
export * from './killed-reactions.js';
export * from './postgres-engines.js';
export * from './query-plans.js';
export * from './service-under-test.js';
