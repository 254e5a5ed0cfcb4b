import { platformProgram } from '../cli/run-program.mjs';

export default {
  group: 'Operate',
  description: 'create the tables, streams and buckets that the configured engines need, or add what is missing',
  examples: ['MIGRATION_DATABASE_URL=postgres://owner@database/attestry npm run migrate'],
  run: platformProgram('migrate', { takesJson: true }),
};
