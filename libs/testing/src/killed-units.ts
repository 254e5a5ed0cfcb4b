import { join } from 'node:path';
import { repository, type PlatformProcess } from './platform-process.js';

/** Where the process ends: when these steps of a unit of work are durable and the next one is not (ADR 0074). */
export type UnitGap = 'keys' | 'single-use values' | 'further streams' | 'last append';

export interface UnitToKill {
  gap: UnitGap;
  /** Type of an event of its last append. */
  event: string;
}

/** Module that a platform preloads so that {@link killAtGap} can end it. */
export const KILLED_UNITS_HOOK = join(repository, 'libs/testing/dist/killed-units-hook.js');

/** From now on the platform kills itself at this gap of the next such unit, as `kill -9` would. */
export const killAtGap = async (platform: PlatformProcess, unit: UnitToKill): Promise<void> => {
  await platform.query({ ...unit });
};
