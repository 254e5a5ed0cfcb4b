import { isRecordedByGateway } from '@attestry/contracts';
import { checkRequest } from '@attestry/service-kit';
import { callService } from './call-service.js';
import type { Dependencies } from './dependencies.js';
import { appErrorOf } from './errors.js';
import { logUnavailable } from './log-unavailable.js';
import type { Call } from './exchange.js';
import { recordRequest } from './begin-record.js';
import { recordFailure, recordSuccess } from './record-outcome.js';

type Used = Pick<Dependencies, 'services' | 'recorder' | 'operationData' | 'clock' | 'logger'>;

/** A call without a request: checked and recorded like those of requests. @throws AppError */
export const runCall = async (call: Call, deps: Used): Promise<unknown> => {
  const { operation } = call.plan;
  try {
    if (isRecordedByGateway(operation)) await recordRequest(call, deps);
    call.checked = checkRequest(operation, call.sent!);
    await callService(call, deps);
  } catch (error) {
    const failure = appErrorOf(error);
    if (failure !== error)
      deps.logger.error({ requestId: call.context.requestId, error: String(error) }, 'request failed');
    logUnavailable(failure, call.context, deps.logger);
    await recordFailure(call, deps, failure);
    throw failure;
  }
  if (call.recorded) await recordSuccess(call, deps);
  return call.result;
};
