import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { AppError, unavailable, type ErrorKind } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { ExpiringState, isErased } from '@attestry/keys';
import { Metrics } from '../metrics/metrics.js';
import { CLOCK } from '../config/tokens.js';
import { addUse, type Use } from './budget.js';

/** How often an action is allowed within any `windowMs` milliseconds. */
export interface Budget {
  /** Label of the metric. */
  name: 'mailbox' | 'tenant-mails' | 'webhook-tests' | 'webhook-requests' | 'provider-checks' | 'offer-sign-ins';
  /** Tenant whose key seals the uses, or the platform. */
  owner: string;
  /** Subject of the count; only its digest is stored. */
  key: string;
  limit: number;
  windowMs: number;
  /** Public description of the limit. */
  message: string;
}

const MOST_TRIES = 20;

/** Kinds of errors after which nothing has changed. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set([
  'invalid',
  'forbidden',
  'notFound',
  'conflict',
  'unprocessable',
  'tooManyRequests',
]);

/**
 * Budgets of calls that have an effect on a third party, or that store what stays. The uses are stored with the keys, so that restarts and several processes
 * share them (ADR 0049); rate limits of requests are the gateway's.
 */
@Injectable()
export class Budgets {
  /** The last use of each budget with one in progress: uses in one process do not collide. */
  private readonly turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly state: ExpiringState,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Uses each of the budgets once, or none of them.
   * @param id of the use; the same one is counted once
   * @throws AppError 429 with `Retry-After`
   */
  async countUse(id: string, budgets: readonly Budget[]): Promise<void> {
    const used: Budget[] = [];
    for (const budget of budgets) {
      const admitted = await this.change(budget, (uses, now) => addUse(uses, { ...budget, id, now }));
      if ('uses' in admitted) {
        used.push(budget);
        continue;
      }
      await this.giveBack(id, used);
      this.metrics.counter('budgetRefusals').inc({ budget: budget.name });
      throw new AppError('tooManyRequests', budget.message, {
        headers: { 'retry-after': String(admitted.retryAfterSeconds) },
        check: budget.name,
      });
    }
  }

  /**
   * Uses each of the budgets once for work that decides after that whether it has an effect: a refusal returns the uses. A failure with an
   * unknown outcome keeps them.
   */
  async useFor<Result>(id: string, budgets: readonly Budget[], work: () => Promise<Result>): Promise<Result> {
    await this.countUse(id, budgets);
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && REFUSALS.has(error.kind)) await this.giveBack(id, budgets);
      throw error;
    }
  }

  private async giveBack(id: string, budgets: readonly Budget[]): Promise<void> {
    await Promise.all(budgets.map((one) => this.change(one, (uses) => ({ uses: uses.filter((it) => it.id !== id) }))));
  }

  private async change<Outcome extends { uses: Use[] } | { retryAfterSeconds: number }>(
    budget: Budget,
    decide: (uses: readonly Use[], now: number) => Outcome,
  ): Promise<Outcome> {
    const name = `budget ${hash('sha256', JSON.stringify([budget.name, budget.key]), 'base64url')}`;
    const before = this.turns.get(name) ?? Promise.resolve();
    const mine = before.then(() => this.store(budget, name, decide));
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.turns.set(name, settled);
    try {
      return await mine;
    } finally {
      if (this.turns.get(name) === settled) this.turns.delete(name);
    }
  }

  /** Other processes conflict by the version of the stored state. */
  private async store<Outcome extends { uses: Use[] } | { retryAfterSeconds: number }>(
    { owner, windowMs }: Budget,
    name: string,
    decide: (uses: readonly Use[], now: number) => Outcome,
  ): Promise<Outcome> {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const found = await this.state.read(owner, name);
      if (isErased(found)) break;
      const now = this.clock.now().getTime();
      const outcome = decide(found ? (JSON.parse(found.text) as Use[]) : [], now);
      if (!('uses' in outcome)) return outcome;
      const expiresAt = now + windowMs;
      const options = { after: found?.version, expiresAt };
      if (await this.state.write(owner, name, JSON.stringify(outcome.uses), options)) return outcome;
      await pause(tries * Math.random() * 5);
    }
    throw unavailable('Service temporarily unavailable', new Error('a budget could not be stored'));
  }
}
