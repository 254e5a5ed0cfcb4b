import 'reflect-metadata';

export * from './acknowledgement-ledger.js';
export * from './api-client.js';
export * from './canary.js';
export * from './did-resolution.js';
export * from './host-fetch.js';
export * from './management-api.js';
export * from './nats-server.js';
export * from './platform-process.js';
export * from './redis-server.js';
export * from './seeded-random.js';
export * from './sealed-values.js';
export * from './skipped-suite.js';
export * from './tenant-api.js';
export * from './verify-credential.js';
export * from './wait-until.js';
export * from './wallet.js';
export * from './webhook-receiver.js';
