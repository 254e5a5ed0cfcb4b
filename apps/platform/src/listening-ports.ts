import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Listens on a port and stops. @returns the port; for 0 one that is not in use @throws the error of `listen`: the port is in use, or may not be used */
export const tryPort = async (port: number, host: string): Promise<number> => {
  const server = createServer().listen({ port, host });
  await once(server, 'listening');
  const { port: listened } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return listened;
};

/** How long a process may take to say what it is, milliseconds. */
const ANSWER_MS = 2000;
const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);

/** Whether a running process of the platform listens on a port. */
export const isAttestry = async (port: number, host: string): Promise<boolean> => {
  const name = EVERY_ADDRESS.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${name}:${port}/health/live`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return (await answer.text()).includes('"live"');
  } catch {
    return false;
  }
};
