import { unavailable, type Operation } from '@attestry/contracts';
import type { Dependencies } from './dependencies.js';
import type { Admitted, Call } from './exchange.js';
import { readRequest } from './read-request.js';
import { logLostRecord } from './record-outcome.js';

type Used = Pick<Dependencies, 'recorder' | 'operationData' | 'clock' | 'logger'>;

/** Whether the gateway records START and outcome; wallet endpoints record their own (ADR 0004). */
export const isRecorded = ({ analytics }: Operation): boolean =>
  analytics !== undefined && analytics.recordedBy !== 'service';

/** Of a list. */
const startMetadata = (query: unknown): Record<string, unknown> => {
  const limit = Number((query as { limit?: unknown }).limit);
  return Number.isInteger(limit) ? { limit } : {};
};

/** START. A request that cannot be read is a call of its operation, too. @throws AppError 503 when the START of a command is not acknowledged */
export const recordStart = async (exchange: Admitted, deps: Used): Promise<void> => {
  try {
    exchange.sent = readRequest(exchange);
  } finally {
    await writeStart(exchange, deps);
  }
};

/** A command's START is acknowledged before the command is sent (ADR 0004); that of a query may be lost. @throws AppError 503 */
export const writeStart = async (call: Call, deps: Used): Promise<void> => {
  const { plan, context, sent } = call;
  const { operation } = plan;
  const startedAt = deps.clock.now().toISOString();
  const data = sent && (await deps.operationData.ofRequest(operation, context, sent));
  const written = deps.recorder.start(operation, context, sent ? startMetadata(sent.query) : {}, data);
  if (operation.kind === 'command')
    await written.catch((error: unknown) => {
      throw unavailable('Service temporarily unavailable', error);
    });
  else written.catch((error: unknown) => logLostRecord(call, deps, error));
  call.recorded = { startedAt, hasOutcome: false };
};
