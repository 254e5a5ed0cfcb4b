import { AppError, HTTP_STATUS, type Operation, type OperationContext } from '@attestry/contracts';
import { requestFields, toAppError, type Logger, type OperationRecorder } from '@attestry/service-kit';

/** START of a wallet operation, written in parallel to the checks. */
export interface StartRecord {
  /** Writes START; from now on exactly one outcome follows. The presented value named a session of this tenant. */
  writeStart(): void;
  /** Resolves once START is durable; awaited before the first durable effect. @throws when it could not be written */
  acknowledged(): Promise<void>;
}

/**
 * Runs a wallet operation and records it (ADR 0004): nothing without a known session; once `writeStart` was called, START, and before the
 * response SUCCESS or FAIL. Without START no effect. A failure to write the outcome does not undo the effect: it is logged, and analytics
 * closes the START from the committed events or at its deadline.
 */
export const recordOutcome = async <T>(
  recorder: OperationRecorder,
  logger: Logger,
  operation: Operation,
  context: OperationContext,
  run: (start: StartRecord) => Promise<T>,
): Promise<T> => {
  // A rejection is kept as a value: it may occur while a check, not this promise, is awaited.
  let started: Promise<void | AppError> | undefined;
  const start: StartRecord = {
    writeStart: () => {
      started ??= recorder
        .start(operation, context)
        .catch((cause: unknown) => new AppError('unavailable', 'Service temporarily unavailable', { cause }));
    },
    acknowledged: async () => {
      const failure = await started;
      if (failure) throw failure;
    },
  };
  const logLostEvent = (error: unknown): void =>
    logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
  let answer: T;
  try {
    answer = await run(start);
    await start.acknowledged();
  } catch (error) {
    const refusal = error instanceof AppError ? error : toAppError(error, context, logger);
    if (started && !(await started)) {
      const { kind, code, message } = refusal;
      await recorder.fail(operation, context, { status: HTTP_STATUS[kind], code, message }).catch(logLostEvent);
    }
    throw refusal;
  }
  if (started) await recorder.success(operation, context).catch(logLostEvent);
  return answer;
};
