import { carriesRecord, unavailable } from '@attestry/contracts';
import { CallRecord } from '@attestry/service-kit';
import type { Dependencies } from './dependencies.js';
import type { Admitted, Call } from './exchange.js';
import { readRequest } from './read-request.js';

type Used = Pick<Dependencies, 'recorder' | 'operationData' | 'clock'>;

/** A request that cannot be read is a call of its operation, too. @throws AppError of the request; 503 when START is not acknowledged */
export const beginRecord = (exchange: Admitted, deps: Used): void | Promise<void> => {
  exchange.recorded = { startedAt: deps.clock.now().toISOString(), hasOutcome: false };
  exchange.sent = readRequest(exchange);
  return recordRequest(exchange, deps);
};

/** Record of the call, and START of an operation with effects outside its append (ADR 0072). @throws AppError 503 */
export const recordRequest = (call: Call, deps: Used): void | Promise<void> => {
  const { operation } = call.plan;
  call.recorded ??= { startedAt: deps.clock.now().toISOString(), hasOutcome: false };
  const sealing = deps.operationData.ofRequest(operation, call.context, call.sent!);
  if (!sealing && !operation.analytics!.effects) return passOn(call);
  return (async () => {
    const requestData = await sealing;
    if (requestData !== undefined) call.recorded!.requestData = requestData;
    if (operation.analytics!.effects) await writeStart(call, deps);
    passOn(call);
  })();
};

/** The service puts the record into the event that the command appends. */
const passOn = (call: Call): void => {
  if (!carriesRecord(call.plan.operation)) return;
  const { startedAt, requestData } = call.recorded!;
  call.context = { ...call.context, record: { startedAt, ...(requestData !== undefined && { requestData }) } };
};

const writeStart = async ({ plan, context, sent, recorded }: Call, { recorder }: Used): Promise<void> => {
  const record = new CallRecord(plan.operation, context, recorded!, sent?.params as object | undefined);
  try {
    await recorder.start(record.startMessage());
  } catch (error) {
    throw unavailable('Service temporarily unavailable', error);
  }
};
