import { join } from 'node:path';
import { root } from '../setup.mjs';

export default {
  group: 'Develop',
  description: 'format every file with Prettier',
  examples: ['npm run format'],
  run: async (_given, cli) => {
    const prettier = join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
    return cli.runProgram([prettier, '--write', '--log-level', 'warn', root], { name: 'format' });
  },
};
