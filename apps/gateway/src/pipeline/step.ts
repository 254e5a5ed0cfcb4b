import type { Operation } from '@attestry/contracts';
import type { Dependencies } from './dependencies.js';
import type { Call, Exchange } from './exchange.js';

interface AnyStep {
  /** A step from START to the outcome takes a {@link Call}, and may replace its context. */
  run(exchange: Exchange | Call, deps: Dependencies): void | Promise<void>;
}
/**
 * One step of a request: what must be known before is the type of its first parameter, what it uses that of its second.
 * It returns a promise only where there is something to wait for, and throws an AppError when the request is refused.
 */
export type Step = AnyStep['run'];

/** A step of the operations for which `when` holds; of all when it is absent. */
export interface StepOfOperation {
  step: Step;
  when?: (operation: Operation) => boolean;
}

/** Runs the steps one after the other, and waits only for those that return a promise. */
export const runSteps = (
  steps: readonly Step[],
  exchange: Exchange,
  deps: Dependencies,
  first = 0,
): void | Promise<void> => {
  for (let at = first; at < steps.length; at++) {
    const pending = steps[at]!(exchange, deps);
    if (pending) return pending.then(() => runSteps(steps, exchange, deps, at + 1));
  }
};
