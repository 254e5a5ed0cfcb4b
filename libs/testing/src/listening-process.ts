import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Id of the process that listens on a local port; undefined without one, or on systems without /proc. */
export const listeningProcess = (port: number): number | undefined => {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => inodesIn(file, port)));
  if (!inodes.size) return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => socketsOf(pid).some((inode) => inodes.has(inode)));
};

const inodesIn = (file: string, port: number): string[] => {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return orNone(() =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === LISTENING && local?.endsWith(`:${wanted}`))
      .map((columns) => columns[9]!),
  );
};

const socketsOf = (pid: number): string[] =>
  orNone(() =>
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) =>
      orNone(() => {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
        return inode === undefined ? [] : [inode];
      }),
    ),
  );

/** A process that has ended meanwhile, or that may not be read, has none. */
const orNone = (probe: () => string[]): string[] => {
  try {
    return probe();
  } catch {
    return [];
  }
};
