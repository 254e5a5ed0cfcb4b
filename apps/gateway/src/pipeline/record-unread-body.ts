import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { logLostRecord } from './record-outcome.js';
import { isRecorded, writeStart } from './record-start.js';

type Used = Pick<Dependencies, 'recorder' | 'operationData' | 'clock' | 'logger'>;

/** A request whose body cannot be read is a call of its operation: START is recorded, and FAIL follows (ADR 0003). */
export const recordUnreadBody = async (exchange: Admitted, deps: Used): Promise<void> => {
  if (!isRecorded(exchange.plan.operation)) return;
  await writeStart(exchange, deps).catch((error: unknown) => logLostRecord(exchange, deps, error));
};
