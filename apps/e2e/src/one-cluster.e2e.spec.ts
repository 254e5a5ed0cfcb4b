import { shareClusters } from '@attestry/testing';

// What needs no platform of its own and stops no process: nine processes and their schemas for all of these, not for each.
shareClusters();
await import('./authentication-providers.e2e.spec.js');
await import('./clients.e2e.spec.js');
await import('./dids.e2e.spec.js');
await import('./edge.e2e.spec.js');
await import('./interface.e2e.spec.js');
await import('./issuance.e2e.spec.js');
await import('./statements/management.e2e.spec.js');
await import('./statements/tenant.e2e.spec.js');
