import { DnsBudgetExceeded, TargetRefused } from '@attestry/service-kit';

const TIME_OUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Why there was no response, as one recorded word: never a message, which might repeat what was sent. */
export const attemptError = (error: unknown): string => {
  if (error instanceof TargetRefused) return 'target-refused';
  if (error instanceof DnsBudgetExceeded) return 'dns-budget-exceeded';
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError' || TIME_OUTS.has(String(code))) return 'timeout';
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'connection-failed';
};
