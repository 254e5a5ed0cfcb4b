import type { OnModuleInit } from '@nestjs/common';
import type { Projection, ReadModels, RunningProjection } from '@attestry/read-model';
import type { Health } from '../process/health.js';

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

/** Queries of a projection, which starts with the module. */
export abstract class ReadModel<Tables> implements OnModuleInit {
  running!: RunningProjection<Tables>;

  constructor(
    private readonly readModels: ReadModels,
    private readonly health: Health,
    private readonly projection: Projection<Tables>,
  ) {}

  async onModuleInit(): Promise<void> {
    this.running = await startProjection(this.readModels, this.health, this.projection);
  }

  /** For writes after which a caller would read the list. */
  async settled(position: string | undefined): Promise<void> {
    await this.running.ownWrite(position);
  }
}
