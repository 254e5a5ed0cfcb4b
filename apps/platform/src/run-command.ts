import { nearestName } from '@attestry/service-kit';

/** A command was called in a way that it does not support: exit code 2. */
export class UsageError extends Error {}

/**
 * Runs a program of this folder. An error is one line with the next step and exit code 1; `DEBUG` prints its stack instead.
 * @param usage printed when the arguments are invalid
 */
export const runCommand = (run: () => Promise<void>, usage = ''): void => {
  run().catch((error: unknown) => {
    const { code, message } = error as Fault;
    const isUnparsed = String(code).startsWith('ERR_PARSE_ARGS_');
    const line = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? unknownOption(message, usage) : faultLine(error as Fault);
    console.error(process.env['DEBUG'] ? error : isUnparsed ? `${line}\n${usage}`.trim() : line);
    process.exit(isUnparsed || error instanceof UsageError ? 2 : 1);
  });
};

/** Node names the option in quotes, then explains positional arguments. */
const unknownOption = (message: string, usage: string): string => {
  const name = /'(-[^']*)'/.exec(message)?.[1] ?? '';
  const nearest = nearestName(name, usage.match(/--[a-z][a-z-]*/g) ?? []);
  return `unknown option '${name}'${nearest === undefined ? '' : ` (Did you mean ${nearest}?)`}`;
};

interface Fault extends Error {
  code?: string;
  address?: string;
  port?: number;
  errors?: readonly Fault[];
}

/** Reason why a process cannot start, with a remedy. */
export const faultLine = (fault: Fault): string => {
  const { code, address, port, name, message, errors } = fault;
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is in use: stop the process that uses it, or set ${portSetting(port)} to another port`;
  if (name === 'DataFolderLocked') return `${message}: stop that process, or set DATA_DIR to another folder`;
  if (name === 'DataFolderUnusable') return `${message}: set DATA_DIR to a folder, or to a path where one can be made`;
  if (name === 'UnreleasedData')
    return `${message}, which no release from 0.2.0 on reads: export what you need with that version, and begin with an empty folder, schema and feed (docs/releases.md)`;
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
