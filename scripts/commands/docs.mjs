import { join } from 'node:path';
import { root } from '../setup.mjs';

export default {
  group: 'Develop',
  description: 'write the generated pages, interface definitions and lists of services',
  options: [{ flags: '--check', about: 'write nothing; fail when a file is out of date or a reference is broken' }],
  examples: ['npm run docs', 'npm run docs -- --check'],
  run: async ({ words }, cli) => {
    await cli.build();
    return cli.runProgram([join(root, 'scripts', 'docs.mjs'), ...words], { name: 'docs' });
  },
};
