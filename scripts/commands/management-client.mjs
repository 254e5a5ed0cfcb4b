import { platformProgram } from '../cli/run-program.mjs';

export default {
  group: 'Operate',
  description: 'create another management client and print its credentials once',
  usage: [{ name: 'action', about: 'create', required: true, choices: ['create'] }],
  options: [{ flags: '--name <name>', about: 'name of the client', required: true }],
  examples: ['npm run management-client -- create --name nightly-import'],
  run: platformProgram('management-client'),
};
