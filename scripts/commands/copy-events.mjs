import { platformProgram } from '../cli/run-program.mjs';

/** docs/guides/operations.md, "Moving between engines". */
export default {
  group: 'Operate',
  description: 'copy all events, or those of one tenant, between any two engines',
  options: [
    { flags: '--from <place>', about: 'data folder, postgres://…?schema=… or esdb://…?prefix=… URL', required: true },
    { flags: '--to <place>', about: 'another one', required: true },
    { flags: '--tenant <id>', about: 'events of one tenant only' },
    { flags: '--only <kind>', about: 'one kind only', choices: ['events', 'operations'] },
    { flags: '--from-checkpoints <place>', about: 'checkpoints of the source, where events are in EventStoreDB' },
    { flags: '--to-checkpoints <place>', about: 'checkpoints of the target, where events are in EventStoreDB' },
    { flags: '--keys-from <place>', about: 'copy keys as well, from there' },
    { flags: '--keys-to <place>', about: 'where the keys are copied to' },
    { flags: '--new-secrets', about: 'with --keys-from: the target has another MASTER_KEY' },
    { flags: '--live', about: 'copy while the source runs; run the command again when it has stopped' },
    { flags: '--leave-unpublished', about: 'also copy when events are not yet published or consumed' },
  ],
  examples: ['npm run copy-events -- --from .attestry --to postgres://owner@database/attestry?schema=attestry'],
  run: platformProgram('copy-events'),
};
