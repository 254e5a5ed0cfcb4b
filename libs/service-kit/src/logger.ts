import { pino, type Logger } from 'pino';

export type { Logger };

/** JSON lines on standard output. Bodies, headers and credentials are never passed to it; the paths below are the safety net. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['*.authorization', '*.client_secret', '*.clientSecret', '*.access_token', '*.tx_code', '*.secret', '*.body'],
      censor: '***',
    },
  });
