import { join } from 'node:path';
import { repository } from './platform-process.js';

/** Module that a platform preloads whose durable waves are counted: its disk is slow, and it answers each message with the waves. */
export const DURABLE_WAVES_PROBE = join(repository, 'libs/testing/dist/durable-waves-probe.js');
