import { platformProgram } from '../cli/run-program.mjs';

export default {
  group: 'Operate',
  description: 'rebuild a read model from the first event while the old one stays in use',
  usage: [{ name: 'name', about: 'projections; an unknown name lists them all', variadic: true }],
  options: [{ flags: '--all', about: 'every projection' }],
  examples: ['npm run rebuild-projection -- analytics.events', 'npm run rebuild-projection -- --all'],
  run: (given, cli) => {
    if ((given.options.all === true) === given.args[0].length > 0) cli.wrongUsage('name projections, or --all');
    return platformProgram('rebuild-projection', { takesJson: true })(given, cli);
  },
};
