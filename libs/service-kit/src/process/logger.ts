import type { LoggerService } from '@nestjs/common';
import type { OperationContext } from '@attestry/contracts';
import { pino, type DestinationStream, type Logger } from 'pino';
import { traceIdOf } from '../tracing/tracing.js';

export type { Logger };

export interface LoggerOptions {
  /** In every line; default `platform`. */
  service?: string;
  /** Default: standard output. */
  destination?: DestinationStream;
}

/** Fields of a line about a call. */
export type LoggedContext = Pick<OperationContext, 'requestId' | 'operation' | 'tenant' | 'traceparent'>;

export const requestFields = ({
  requestId,
  operation,
  tenant,
  traceparent,
}: LoggedContext): Record<string, unknown> => ({
  requestId,
  operation,
  ...(tenant && { tenantId: tenant.id }),
  ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }),
});

/** JSON lines on standard output. Bodies, headers and credentials are never passed to it; the paths below are the safety net. */
export const createLogger = (level: string, { service = 'platform', destination }: LoggerOptions = {}): Logger => {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    // By name, as alerts and people read them.
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        '*.authorization',
        '*.client_secret',
        '*.clientSecret',
        '*.access_token',
        '*.tx_code',
        '*.secret',
        '*.body',
      ],
      censor: '***',
    },
  };
  return pino(options, destination ?? standardOutput());
};

/** Characters that wait for a standard output that takes none; further lines are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;

/** A full disk, or a reader that is gone, must not end the process: the lines are written later, or dropped. */
const standardOutput = (): DestinationStream => {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MOST_WAITING });
  output.on('error', () => undefined);
  // Lines that the logger did not write can fail too.
  process.stdout.on('error', () => undefined);
  return output;
};

/** Nest's own messages, in the same log; only warnings and errors. */
export const createNestLogger = (logger: Logger): LoggerService => ({
  log: () => undefined,
  error: (message: unknown, ...rest: unknown[]) => logger.error({ nest: rest.map(String).join(' ') }, String(message)),
  warn: (message: unknown) => logger.warn(String(message)),
  fatal: (message: unknown) => logger.fatal(String(message)),
});
