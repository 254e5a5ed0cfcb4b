import { generateBls12381G2 } from '../public-keys/bls12381.js';
import { BbsProofNotMade, BbsProofs } from './bbs-proofs.js';

const proofs = new BbsProofs();
afterAll(() => proofs.close());

const { d, x } = generateBls12381G2();
const task = () => ({
  secretKey: Uint8Array.from(Buffer.from(d, 'base64url')),
  publicKey: Uint8Array.from(Buffer.from(x, 'base64url')),
  header: Uint8Array.of(1),
});

it('takes hardly any time of the thread that waits for it', async () => {
  await proofs.prove(task());
  const [all, here] = [process.cpuUsage(), process.threadCpuUsage()];
  await Promise.all(Array.from({ length: 5 }, () => proofs.prove(task())));
  const used = process.cpuUsage(all);
  const usedHere = process.threadCpuUsage(here);
  expect(usedHere.user + usedHere.system).toBeLessThan((used.user + used.system) / 4);
});

it('too many at once are refused, the others are made, and no secret key is left here', async () => {
  const tasks = Array.from({ length: 40 }, task);
  const outcomes = tasks.map((one) => proofs.prove(one));
  const refused: unknown[] = [];
  for (const outcome of outcomes) outcome.catch((error: unknown) => refused.push(error));
  // The first one has begun by then.
  expect(await outcomes[0]).toHaveLength(272);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(40 - 30);
  expect(refused[0]).toBeInstanceOf(BbsProofNotMade);
  await proofs.close();
  await Promise.allSettled(outcomes);
  const left = tasks.filter(({ secretKey }) => secretKey.length > 0 && secretKey.some((byte) => byte !== 0));
  expect(left).toEqual([]);
});
