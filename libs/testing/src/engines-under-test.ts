import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, type Operation } from '@attestry/contracts';
import type { FeedMessage } from '@attestry/messaging';
import {
  openEngines,
  parseConfig,
  type Engines,
  type PlatformConfig,
  type RequestOf,
  type ResponseOf,
} from '@attestry/service-kit';
import { chosenEngines } from './postgres-engines.js';
import { TEST_SETTINGS } from './test-settings.js';

/** Time that passes only when the test lets it pass. */
export interface StoppedClock {
  /** Milliseconds since the epoch. */
  time: number;
  now(): Date;
}

export const stoppedClock = (startsAt = '2026-03-01T10:00:00.000Z'): StoppedClock => {
  const clock = { time: Date.parse(startsAt), now: () => new Date(clock.time) };
  return clock;
};

export interface EnginesUnderTestOptions {
  /** Besides {@link TEST_SETTINGS} and the data folder. */
  settings?: Record<string, string>;
  /** Members of the configuration that no setting has, such as shorter waits. */
  config?: Partial<PlatformConfig>;
  /** Default: the time of day. */
  clock?: { now(): Date };
  /** Whenever the engines are open, before a service uses them: what other services answer, faults, listeners. */
  prepare?: (engines: Engines) => unknown;
  /** Messages that {@link EnginesUnderTest.messages} keeps. */
  subjects?: readonly string[];
}

/** @param tenantId of the call, where it has one */
type Answer<O extends Operation> = (request: RequestOf<O>, tenantId: string) => ResponseOf<O> | Promise<ResponseOf<O>>;

/** The engines of the Jest project (embedded, or keys and read models in PostgreSQL) on a data folder of their own. */
export class EnginesUnderTest {
  engines!: Engines;
  config!: PlatformConfig;
  /** Milliseconds the clock is ahead. */
  ahead = 0;
  readonly messages: FeedMessage[] = [];
  private readonly answers = new Map<Operation, (request: never, tenantId: string) => unknown>();
  private ownFolder: string | undefined;

  constructor(protected readonly options: EnginesUnderTestOptions = {}) {}

  /** Made when it is first needed, deleted by {@link remove}. */
  get folder(): string {
    return (this.ownFolder ??= mkdtempSync(join(tmpdir(), 'attestry-')));
  }

  readonly now = (): Date => new Date((this.options.clock?.now().getTime() ?? Date.now()) + this.ahead);

  /** Sets the answer of another service from the next {@link open} on; an error that is thrown is its refusal. */
  readonly answer = <O extends Operation>(operation: O, answer: Answer<NoInfer<O>>): void => {
    this.answers.set(operation, answer);
  };

  /** Opens them; after {@link close} again, on the same data. @param change of settings and config, this time */
  async open(change: Pick<EnginesUnderTestOptions, 'settings' | 'config'> = {}): Promise<void> {
    const { settings, config, prepare, subjects = [] } = this.options;
    const parsed = parseConfig({ ...TEST_SETTINGS, DATA_DIR: this.folder, ...settings, ...change.settings });
    this.config = Object.assign(parsed, config, change.config);
    this.engines = await chosenEngines(await openEngines(this.config, { clock: { now: this.now } }));
    if (subjects.length > 0)
      this.engines.bus.consume({ name: 'spec.messages', subjects }, async (messages) => {
        this.messages.push(...messages);
      });
    for (const [{ subject }, answer] of this.answers)
      this.engines.bus.serve(subject, async (data, { tenant }) => {
        try {
          const { id } = JSON.parse(tenant ?? '{}') as { id: string };
          return { ok: true, data: await answer(data as never, id) };
        } catch (error) {
          if (error instanceof AppError) return { ok: false, error: error.toWire() };
          throw error;
        }
      });
    try {
      await prepare?.(this.engines);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { engines } = this;
    this.engines = undefined!;
    await engines?.close();
  }

  /** Closes and opens them. */
  async restart(change?: Parameters<EnginesUnderTest['open']>[0]): Promise<void> {
    await this.close();
    await this.open(change);
  }

  /** Closes them and deletes their data. */
  async remove(): Promise<void> {
    await this.close();
    if (this.ownFolder) rmSync(this.ownFolder, { recursive: true, force: true });
    this.ownFolder = undefined;
    this.messages.length = 0;
  }
}
