// Faults that a public linter finds in the interface definitions in docs/reference. Prints a line for each; reads no network.
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { root } from './setup.mjs';

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'no-unresolved-refs': 'error',
    'no-schema-type-mismatch': 'error',
    'operation-operationId-unique': 'error',
    'no-invalid-media-type-examples': 'error',
    'path-parameters-defined': 'error',
    // `/offers/pre-authorized/{id}` and `/offers/{reference}/content` are the specification's own.
    'no-ambiguous-paths': 'off',
    // Two operations of the authorization code flow only ever redirect (RFC 6749 §4.1): each other has its success status.
    'operation-2xx-response': 'off',
  },
});
let faults = 0;
for (const name of ['management', 'tenant']) {
  const path = `docs/reference/openapi-${name}.json`;
  for (const { ruleId, message, location } of await lint({ ref: join(root, path), config })) {
    console.error(`${path}${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
    faults += 1;
  }
}
process.exit(faults > 0 ? 1 : 0);
