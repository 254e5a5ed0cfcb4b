import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ProjectionRegistry } from './projection-registry.js';
import type { RegistryTables } from './projection-registry.js';
import { ProjectionRunner } from './projection-runner.js';
import type { ProjectionRunnerOptions } from './projection-runner.js';
import { ReadModels } from './read-model.js';
import type { Projection, ProjectionHealth, RunningProjection } from './read-model.js';

export type ReadModelOptions = Omit<ProjectionRunnerOptions, 'db' | 'registry' | 'holder'> & {
  /** Unique per process; default a random UUID. With a fixed name a restarted process need not wait for its own old lease. */
  holder?: string;
};

/** Common part of the dialects: all but opening the database. */
export abstract class KyselyReadModels extends ReadModels {
  private readonly runners = new Map<string, ProjectionRunner<unknown>>();
  private readonly registry: ProjectionRegistry;
  private readonly options: ProjectionRunnerOptions;

  protected constructor(
    private readonly kysely: Kysely<RegistryTables>,
    options: ReadModelOptions,
  ) {
    super();
    this.registry = new ProjectionRegistry(kysely);
    this.options = { ...options, holder: options.holder ?? randomUUID(), db: kysely, registry: this.registry };
  }

  /** Called once by the dialect before anything starts. */
  protected migrate(): Promise<void> {
    return this.registry.migrate();
  }

  async start<Tables>(projection: Projection<Tables>): Promise<RunningProjection<Tables>> {
    const { name } = projection;
    if (this.runners.has(name)) throw new Error(`projection ${name} has already been started`);
    const runner = new ProjectionRunner<Tables>(projection, this.options);
    this.runners.set(name, runner as unknown as ProjectionRunner<unknown>);
    try {
      await runner.start();
    } catch (error) {
      this.runners.delete(name);
      throw error;
    }
    return runner;
  }

  health(): ProjectionHealth[] {
    return [...this.runners.values()].map((runner) => runner.health);
  }

  checkpoints(): Promise<{ name: string; position: string }[]> {
    return this.registry.positions();
  }

  async close(): Promise<void> {
    await Promise.all([...this.runners.values()].map((runner) => runner.stop()));
    await this.kysely.destroy();
  }
}
