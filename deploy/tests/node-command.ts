import { nodeFlags } from '../../scripts/node-flags.mjs';

/** How every process of the platform is started. */
export const nodeCommand: string[] = ['node', ...(nodeFlags as string[]), 'apps/platform/bundle/main.js'];
