import { sharePlatforms } from '@attestry/testing';

// What needs no platform of its own: one start for all of these, not for each. A cluster is nine processes.
sharePlatforms();
await import('./authentication-providers.e2e.spec.js');
await import('./authorization-code.e2e.spec.js');
await import('./clients.e2e.spec.js');
await import('./dids.e2e.spec.js');
await import('./edge.e2e.spec.js');
await import('./interface.e2e.spec.js');
await import('./issuance.e2e.spec.js');
await import('./statements/management.e2e.spec.js');
await import('./statements/tenant.e2e.spec.js');
// These end its processes and start them again.
await import('./analytics.e2e.spec.js');
await import('./end-of-access.e2e.spec.js');
await import('./repeats.e2e.spec.js');
