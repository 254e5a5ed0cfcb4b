import type { Projection, ReadModels, RunningProjection } from '@attestry/read-model';
import type { Health } from './health.js';

/** Starts a projection and shows it in readiness. */
export const startProjection = async <Tables>(
  readModels: ReadModels,
  health: Health,
  projection: Projection<Tables>,
): Promise<RunningProjection<Tables>> => {
  const running = await readModels.start(projection);
  health.follow(projection.name, () => running.health);
  return running;
};
