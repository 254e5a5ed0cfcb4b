// Faults that a public linter finds in the interface definitions in libs/contracts. Prints a line for each; reads no network.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { schemaFaults, unreachableAddresses } from './interface-schemas.mjs';
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
  const path = `libs/contracts/src/openapi/${name}.json`;
  for (const { ruleId, message, location } of await lint({ ref: join(root, path), config })) {
    console.error(`${path}${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
    faults += 1;
  }
  const document = JSON.parse(readFileSync(join(root, path), 'utf8'));
  const { tags, paths, components } = document;
  for (const fault of [...schemaFaults(document), ...unreachableAddresses(document)]) {
    console.error(`${path}${fault}`);
    faults += 1;
  }
  for (const [at, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      for (const fault of faultsOf(operation, tags, components.securitySchemes)) {
        console.error(`${path}: ${method} ${at} ${fault}`);
        faults += 1;
      }
  for (const [response, { content }] of Object.entries(components.responses))
    if (content['application/json'] && !content['application/json'].example) {
      console.error(`${path}: the response ${response} has no example`);
      faults += 1;
    }
}
process.exit(faults > 0 ? 1 : 0);

/** Parts of each operation that a reader needs: its resource, its security and roles, and examples of its body and of its response. */
function faultsOf(operation, tags, schemes) {
  const { description = '', security, requestBody, responses } = operation;
  const bodies = Object.entries(requestBody?.content ?? {});
  const answers = Object.entries(Object.values(responses)[0].content ?? {}).filter(([type]) => type.endsWith('json'));
  const [tag, ...others] = operation.tags.map((name) => tags.find((it) => it.name === name));
  return [
    !(tag?.description && others.length === 0) && 'needs exactly one tag, declared with a description',
    !security && 'has no security',
    security?.flatMap(Object.keys).some((name) => !schemes[name]) && 'names a security scheme that is not declared',
    operation['x-roles']?.some((role) => !description.includes(`\`${role}\``)) &&
      'does not name its roles in the description',
    ...[...bodies, ...answers.filter(([type]) => type !== 'application/x-ndjson')].map(
      ([type, { example }]) => example === undefined && `has no example of ${type}`,
    ),
  ].filter(Boolean);
}
