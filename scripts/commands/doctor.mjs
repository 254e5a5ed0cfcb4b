import { platformProgram } from '../cli/run-program.mjs';

export default {
  group: 'Operate',
  description:
    'print what would prevent a process with this environment from starting, and connect to its engines; starts nothing',
  options: [{ flags: '--migrate', about: 'check the environment of `npm run migrate`' }],
  examples: ['NODE_ENV=production npm run doctor'],
  run: platformProgram('doctor', { takesJson: true }),
};
