// Preloaded into a platform whose custom domains have servers of a test: `PlatformProcess.query` sends their ports, by host name. A domain has
// no port, and a test may not listen on port 80.
import { Outbound } from '@attestry/service-kit';

let ports: Record<string, number> = {};

const { send } = Outbound.prototype;
Outbound.prototype.send = function (this: Outbound, url, options) {
  const target = new URL(url);
  const port = target.port === '' ? ports[target.hostname] : undefined;
  if (port === undefined) return send.call(this, url, options);
  return send.call(this, `http://127.0.0.1:${port}${target.pathname}${target.search}`, options);
};

process.on('message', (message: Record<string, number>) => {
  ports = message;
  process.send!(null);
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
