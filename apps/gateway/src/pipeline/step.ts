import type { Operation } from '@attestry/contracts';
import type { Exchange } from './exchange.js';
import type { Services } from './services.js';

interface AnyStep {
  run(exchange: Exchange, services: Services): void | Promise<void>;
}
/**
 * One step of a request: what must be known before is the type of its first parameter, what it uses that of its second.
 * It returns a promise only where there is something to wait for, and throws an AppError when the request is refused.
 */
export type Step = AnyStep['run'];

/** A step of the operations for which `when` holds; of all when it is absent. */
export interface StepOfPlan {
  step: Step;
  when?: (operation: Operation) => boolean;
}

/** Runs the steps one after the other, and waits only for those that return a promise. */
export const runSteps = (
  steps: readonly Step[],
  exchange: Exchange,
  services: Services,
  first = 0,
): void | Promise<void> => {
  for (let at = first; at < steps.length; at++) {
    const pending = steps[at]!(exchange, services);
    if (pending) return pending.then(() => runSteps(steps, exchange, services, at + 1));
  }
};
