/** A command was called in a way that it does not support: exit code 2. */
export class UsageError extends Error {}

/** Runs a program of this folder. A fault is one line with the next step and exit code 1; `DEBUG` prints its stack instead. */
export const runCommand = (run: () => Promise<void>): void => {
  run().catch((error: unknown) => {
    console.error(process.env['DEBUG'] ? error : faultLine(error as Error));
    process.exit(isUsage(error) ? 2 : 1);
  });
};

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_');

interface Fault extends Error {
  code?: string;
  address?: string;
  port?: number;
  errors?: readonly Fault[];
}

const faultLine = (fault: Fault): string => {
  const { code, address, port, name, message, errors } = fault;
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is in use: stop the process that uses it, or set ${portSetting(port)} to another port`;
  if (name === 'DataFolderLocked') return `${message}: stop that process, or set DATA_DIR to another folder`;
  // A host name with several addresses fails once for each of them.
  if (code === 'ECONNREFUSED' && errors?.[0]) return faultLine(errors[0]);
  if (code === 'ECONNREFUSED' && port !== undefined)
    return `${engineSetting(port)} names ${address}:${port}, where no server accepts connections: start it, or correct the setting`;
  return message || String(fault);
};

const portSetting = (port: number | undefined): string =>
  process.env['ADMIN_PORT'] === String(port) ? 'ADMIN_PORT' : 'PORT';

/** The setting whose URL has this port. */
const engineSetting = (port: number): string =>
  Object.entries(process.env).find(([name, url]) => name.endsWith('_URL') && url?.includes(`:${port}`))?.[0] ??
  'an engine URL';
