import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { Session, type Profiler } from 'node:inspector';

/** What a process that preloads this module answers, by message. */
export type ProbeMessage = 'begin' | 'end' | 'verifications' | 'count-blocks' | 'blocks';

const TICK_MS = 2;
const VERIFICATIONS = 1000;

let before = process.threadCpuUsage();
let largest = 0;

/** CPU time of the main thread between two ticks: what ran without letting the timer in. */
const tick = (): void => {
  const now = process.threadCpuUsage();
  largest = Math.max(largest, now.user - before.user + (now.system - before.system));
  before = now;
};
setInterval(tick, TICK_MS).unref();

const session = new Session();

/** CPU milliseconds of 1,000 ES256 verifications. */
const timeVerifications = (): number => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = Buffer.from('a key proof');
  const signature = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const start = process.threadCpuUsage();
  for (let n = 0; n < VERIFICATIONS; n++)
    verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
};

/** Executed blocks since the last call, as V8 counts them: a range that ran a hundred times counts a hundred. */
const takeBlocks = (answer: (blocks: number) => void): void =>
  session.post('Profiler.takePreciseCoverage', (error, taken?: Profiler.TakePreciseCoverageReturnType) => {
    if (error) throw error;
    let blocks = 0;
    for (const { functions } of taken!.result)
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    answer(blocks);
  });

const answer = (value: unknown): void => void process.send!(value);

process.on('message', (message: ProbeMessage) => {
  switch (message) {
    case 'begin':
      tick();
      largest = 0;
      return answer(null);
    case 'end':
      // The tick that ends the last block is still to come.
      setTimeout(() => {
        tick();
        answer(largest / 1000);
      }, 2 * TICK_MS);
      return;
    case 'verifications':
      return answer(timeVerifications());
    case 'count-blocks':
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
      return answer(null);
    case 'blocks':
      return takeBlocks(answer);
  }
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
