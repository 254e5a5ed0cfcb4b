import { waitUntil, type ServiceProcess } from '@attestry/testing';
import { replace, type Replaced } from '../faults/replace-processes.js';
import type { Stage } from '../faults/stage.js';

/** Calls that are answered while both releases serve. */
const ANSWERS_BESIDE = 25;
/** Flows that begin and end while both releases serve, beside those of pre-authorized codes. */
const GRANTS_BESIDE = ['authorization_code', 'refresh_token'] as const;

/** A consumer or a decision that met an event of the other release (ADR 0057). */
const WAITING = /^.*which this release does not know.*$/gm;

/** Rolls the services of a stage from one build to another, as the chart's Deployments do: the new process first. */
export class Roll {
  readonly replaced: Replaced[] = [];
  private serial = 0;
  private readonly ended: string[] = [];

  constructor(private readonly stage: Stage) {}

  /** One service after the other; the load does not stop. */
  async services(services: readonly string[], build: string): Promise<void> {
    for (const service of services)
      for (const old of this.stage.cluster.processesOf(service)) await this.process(old, build);
  }

  /** Log lines of all processes, also of those that were replaced, that tell of an event their release does not read. */
  unread(): string[] {
    return [...this.ended, this.stage.cluster.log()].flatMap((log) => log.match(WAITING) ?? []);
  }

  private async process(old: ServiceProcess, build: string): Promise<void> {
    const { ledger } = this.stage;
    const beside = async () => {
      const [before, began] = [ledger.answered.length, performance.now()];
      const isDone = () =>
        ledger.answered.length >= before + ANSWERS_BESIDE &&
        GRANTS_BESIDE.every((wanted) => ledger.flows.some((it) => it.grant === wanted && it.began >= began));
      ledger.due.push(...GRANTS_BESIDE);
      await waitUntil(isDone, { what: 'calls and flows beside both releases' });
    };
    this.serial += 1;
    this.replaced.push(await replace(this.stage, old, build, { name: `${old.service}-${this.serial}`, beside }));
    this.ended.push(old.log());
  }
}
