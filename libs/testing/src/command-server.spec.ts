import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { CommandServer } from './command-server.js';
import { listeningProcess } from './listening-process.js';

describe('a server started by a command', () => {
  const itOnLinux = existsSync('/proc/net/tcp') ? it : it.skip;
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };

  itOnLinux('is identified by the process id that the command prints, and can be killed and restarted', async () => {
    const pids: number[] = [];
    const server = await CommandServer.start('sleep 60 > /dev/null 2>&1 & echo $!; echo ready');
    pids.push(Reflect.get(server, 'pid') as number);
    expect(isAlive(pids[0]!)).toBe(true);
    await server.kill();
    expect(isAlive(pids[0]!)).toBe(false);
    await expect(server.kill()).rejects.toThrow('does not run');
    await server.restart();
    pids.push(Reflect.get(server, 'pid') as number);
    expect(isAlive(pids[1]!)).toBe(true);
    await server.stop();
    expect(isAlive(pids[1]!)).toBe(false);
  });

  itOnLinux('is used when it already runs, and left running', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(listeningProcess(port)).toBe(process.pid);
    const taken = await CommandServer.start('exit 3', `esdb://127.0.0.1:${port}?tls=false`);
    expect(Reflect.get(taken, 'pid')).toBe(process.pid);
    await taken.stop();
    server.close();
  });

  it('is refused when the command fails or names no process', async () => {
    await expect(CommandServer.start('exit 3')).rejects.toThrow('ended with 3');
    await expect(CommandServer.start('echo hello')).rejects.toThrow('printed no process id');
  });
});
