import { setTimeout as pause } from 'node:timers/promises';
import { missingEngines, skipSuite } from '@attestry/testing';
import { probe } from './restart-engines.js';
import { RECOVERY_MS, Stage } from './stage.js';

// The same seed makes the same choices at the same moments; what meets what is up to the machine.
const SEED = Number(process.env['FAULTS_SEED'] ?? Date.now() % 1_000_000);
const CLIENTS = Number(process.env['FAULTS_CLIENTS'] ?? 4);
const SUITE = `faults (FAULTS_SEED=${SEED})`;

const missing = missingEngines({});
if (missing.length) {
  const reason = missing.map(({ name, debian }) => `${name} is not installed (${debian})`).join(', ');
  skipSuite(SUITE, reason);
}
const said = (text: string) => process.stderr.write(`    ${text}\n`);

(missing.length ? describe.skip : describe)(SUITE, () => {
  let stage: Stage;
  beforeAll(async () => {
    said(`seed ${SEED}: npm run test:faults -- --seed ${SEED}`);
    stage = await Stage.open(SEED, CLIENTS);
  }, 180_000);
  afterAll(async () => stage?.close(), 60_000);

  describe.each(['nats', 'postgres', 'redis'] as const)('a restart of %s', (name) => {
    it('is answered with 503, and all is well again within 10 s', async () => {
      const engine = stage.cluster.engines[name]!;
      const pids = stage.cluster.processes.map(({ pid }) => pid);
      await stage.underLoad(async () => {
        const watching = new AbortController();
        const probing = probe(stage, watching.signal);
        await stage.rest(200, 600);
        await engine.kill();
        await stage.rest(1000, 2500);
        await engine.restart();
        const took = await stage.recovered(RECOVERY_MS).catch((error: unknown) => {
          watching.abort();
          throw error;
        });
        await pause(500);
        watching.abort();
        const { statuses, slowest, faults } = await probing;
        said(`${name}: ready after ${took} ms, answers ${JSON.stringify([...statuses])}, slowest ${slowest} ms`);
        expect(faults).toEqual([]);
        expect(statuses.get(503) ?? 0).toBeGreaterThan(name === 'redis' ? -1 : 0);
      });
      // Nobody had to be restarted.
      expect(stage.cluster.processes.map(({ pid }) => pid)).toEqual(pids);
      await stage.check();
    }, 90_000);
  });
});
