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
