import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux takes for outgoing connections (from 32768): one of these could take the port before its server does. */
const FIRST = 10_000;
const LAST = 32_767;
const given = new Set<number>();

/** A port of 127.0.0.1 that is currently not in use, another one for each call. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no port of 127.0.0.1 from ${FIRST} to ${LAST} is free`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};
