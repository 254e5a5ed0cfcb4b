import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

export type { Logger };

/** JSON lines on standard output. Bodies, headers and credentials are never passed to it; the paths below are the safety net. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
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
  });

/** Nest's own messages, on the same log; only what goes wrong. */
export const createNestLogger = (logger: Logger): LoggerService => ({
  log: () => undefined,
  error: (message: unknown, ...rest: unknown[]) => logger.error({ nest: rest.map(String).join(' ') }, String(message)),
  warn: (message: unknown) => logger.warn(String(message)),
  fatal: (message: unknown) => logger.fatal(String(message)),
});
