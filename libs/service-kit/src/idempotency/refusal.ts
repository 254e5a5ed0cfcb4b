import { AppError, HTTP_STATUS } from '@attestry/contracts';

/** Whether the call was refused before it had an effect: no engine failed. */
export const isRefusal = (error: unknown): boolean => error instanceof AppError && HTTP_STATUS[error.kind] < 500;
