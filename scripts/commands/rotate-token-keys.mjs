import { platformProgram } from '../cli/run-program.mjs';

/** docs/guides/operations.md, "In production". */
export default {
  group: 'Operate',
  description: 'replace the key that signs the access tokens of clients',
  examples: ['npm run rotate-token-keys'],
  run: platformProgram('rotate-token-keys'),
};
