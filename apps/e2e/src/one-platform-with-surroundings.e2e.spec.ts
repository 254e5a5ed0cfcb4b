import { sharePlatforms } from '@attestry/testing';

// What needs people, their e-mails or domains: one start for all of these, not for each.
sharePlatforms();
await import('./people.e2e.spec.js');
await import('./statements/people.e2e.spec.js');
await import('./custom-domain.e2e.spec.js');
await import('./registry.e2e.spec.js');
