import type { AppError, OperationContext } from '@attestry/contracts';
import { requestFields, type Logger } from '@attestry/service-kit';

/**
 * One line for a 503 whose cause is in this process: no service answered, or START could not be written. The error of a service has no
 * cause here; its process has logged it.
 */
export const logUnavailable = (
  { kind, cause }: AppError,
  context: OperationContext | { requestId: string },
  logger: Pick<Logger, 'error'>,
): void => {
  if (kind !== 'unavailable' || cause === undefined) return;
  const fields = 'operation' in context ? requestFields(context) : { requestId: context.requestId };
  logger.error({ ...fields, reason: cause instanceof Error ? cause.message : String(cause) }, 'service unavailable');
};
