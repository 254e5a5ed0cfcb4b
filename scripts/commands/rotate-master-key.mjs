import { platformProgram } from '../cli/run-program.mjs';

/** docs/guides/operations.md, "In production". */
export default {
  group: 'Operate',
  description: 'wrap every key that MASTER_KEY_PREVIOUS wrapped with MASTER_KEY',
  examples: ['MASTER_KEY=… MASTER_KEY_VERSION=2 MASTER_KEY_PREVIOUS=… npm run rotate-master-key'],
  run: platformProgram('rotate-master-key'),
};
