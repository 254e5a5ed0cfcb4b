import { platformProgram } from '../cli/run-program.mjs';

/** docs/guides/operations.md, "Backup and restore". */
export default {
  group: 'Operate',
  description: 'copy a data folder as of a single moment, also while the platform runs',
  options: [
    { flags: '--to <folder>', about: 'empty folder to copy into', required: true },
    { flags: '--from <folder>', about: 'data folder (default: DATA_DIR or .attestry)' },
  ],
  examples: ['npm run backup -- --to /backups/2026-11-21'],
  run: platformProgram('backup'),
};
