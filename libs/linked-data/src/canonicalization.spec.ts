import type { Piscina } from 'piscina';
import { Canonicalization, CanonicalizationTooLong, DocumentFault } from './canonicalization.js';
import { hashDocuments } from './canonicalize.worker.js';
import { CREDENTIALS_V2, sharedContexts } from './well-known.js';

const CONTEXT_URL = 'https://contexts.example/v1';
const OWN = 'https://acme.example/context';
const shared = sharedContexts(CONTEXT_URL);
const A = 'tenant-a';
const B = 'tenant-b';
const C = 'tenant-c';

const credential = (claims: object, ...contexts: string[]) => ({
  '@context': [CREDENTIALS_V2, CONTEXT_URL, ...contexts],
  type: ['VerifiableCredential'],
  issuer: 'did:example:issuer',
  credentialSubject: { id: 'did:example:holder', ...claims },
});
/** More than the caller's thread takes. */
const large = (mark: string) => credential({ rows: Array.from({ length: 300 }, (_, i) => ({ v: `${mark}${i}` })) });
/** Indistinguishable blank nodes: canonicalization takes quadratic time before it gives up. */
const ring = (length: number) =>
  credential({
    nodes: Array.from({ length }, (_, i) => ({ id: `_:n${i}`, next: { id: `_:n${(i + 1) % length}` } })),
  });
/** About half a minute without a deadline. */
const POISON = ring(9000);

/** The tenant's own context, as text by address. */
const defining = (context: object) => new Map([[OWN, JSON.stringify({ '@context': context })]]);

const unavailable = { kind: 'unavailable', headers: { 'retry-after': '5' } };
const outcomeOf = (job: Promise<unknown>): Promise<unknown> => job.catch((error: unknown) => error);

describe('canonicalization', () => {
  const open: Canonicalization[] = [];
  const pool = (threads: number, deadlineMs?: number, waitMs?: number) => {
    const limits = { ...(deadlineMs !== undefined && { deadlineMs }), ...(waitMs !== undefined && { waitMs }) };
    const made = new Canonicalization({ shared, threads, ...limits });
    open.push(made);
    return made;
  };
  const threadsOf = (made: Canonicalization) => (made as unknown as { pool?: Piscina }).pool?.threads ?? [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  it('starts no thread for a small document', async () => {
    const made = pool(1);
    const [hash] = await made.hashes(A, [credential({ given_name: 'Ada' })]);
    expect(hash).toHaveLength(32);
    expect(threadsOf(made)).toHaveLength(0);
  });

  it.each<[string, object, Map<string, string>]>([
    ['a large document', large('x'), new Map()],
    [
      'a context of the tenant, however small',
      credential({ t1: 'x' }, OWN),
      defining({ t1: 'https://acme.example/1' }),
    ],
    [
      'a large context of the tenant',
      credential({ t1: 'x' }, OWN),
      defining(Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`t${i}`, `https://acme.example/${i}`]))),
    ],
  ])('gives the same hash in a thread: %s', async (_, document, contexts) => {
    const made = pool(1);
    const hashes = await made.hashes(A, [document, credential({})], contexts);
    expect(threadsOf(made)).toHaveLength(1);
    const here = await hashDocuments([document, credential({})], shared, contexts);
    expect({ hashes }).toEqual(here);
  });

  it.each<[string, object]>([
    ['an id that is no IRI', { id: 'x y' }],
    ['blank nodes that nothing tells apart', ring(10).credentialSubject],
  ])('reports the same fault from a thread: %s', async (_, about) => {
    const made = pool(1);
    const small = await outcomeOf(made.hashes(A, [credential({ about })]));
    expect(threadsOf(made)).toHaveLength(0);
    const inThread = await outcomeOf(made.hashes(A, [large('x'), credential({ about })]));
    expect(threadsOf(made)).toHaveLength(1);
    expect(small).toBeInstanceOf(DocumentFault);
    expect(inThread).toEqual(small);
    expect((inThread as DocumentFault).code).toBe((small as DocumentFault).code);
  });

  it('terminates a job that passes the deadline, and continues with another thread', async () => {
    const made = pool(1, 1500);
    let terminated = 0;
    made.onTerminated = () => terminated++;
    const [poisoned, next] = await Promise.all([outcomeOf(made.hashes(A, [POISON])), made.hashes(A, [large('x')])]);
    expect(poisoned).toBeInstanceOf(CanonicalizationTooLong);
    expect(next).toHaveLength(1);
    expect(terminated).toBe(1);
    expect([made.runningJobs, made.waitingJobs]).toEqual([0, 0]);
  });

  it('terminates the thread of a context that refers to itself without end', async () => {
    const made = pool(1, 3000);
    const looping = defining({ a: { '@id': 'urn:a', '@context': [OWN, { b: 'urn:b' }] } });
    const refused = await outcomeOf(made.hashes(A, [credential({ a: 'urn:x' }, OWN)], looping));
    expect(refused).toBeInstanceOf(CanonicalizationTooLong);
    expect(await made.hashes(B, [large('x')])).toHaveLength(1);
  });

  it('caches no processed context that another call could use', async () => {
    const made = pool(1);
    const imported = 'https://acme.example/imported';
    const hashWith = async (meaning: string) => {
      const contexts = new Map([
        [OWN, JSON.stringify({ '@context': { '@version': 1.1, '@import': imported } })],
        [imported, JSON.stringify({ '@context': { degree: meaning } })],
      ]);
      const [hash] = await made.hashes(A, [credential({ degree: 'x' }, OWN)], contexts);
      return hash!.toString('hex');
    };
    const [first, second, again] = [await hashWith('urn:v1'), await hashWith('urn:v2'), await hashWith('urn:v1')];
    expect(second).not.toBe(first);
    expect(again).toBe(first);
  });

  it.each([{}, 5, true, { '@id': 5 }])('reports an invalid container as a fault: %j', async (container) => {
    const contexts = defining({ a: { '@id': 'urn:a', '@container': container } });
    const refused = await outcomeOf(pool(1).hashes(A, [credential({ a: 'x' }, OWN)], contexts));
    expect(refused).toBeInstanceOf(DocumentFault);
  });

  it('schedules tenants round-robin', async () => {
    const made = pool(1);
    const done: string[] = [];
    const jobs = [A, A, A, A, B, C].map((tenant) => made.hashes(tenant, [large(tenant)]).then(() => done.push(tenant)));
    await Promise.all(jobs);
    expect(done).toEqual([A, A, B, C, A, A]);
  });

  it('uses at most half of the threads for a tenant', async () => {
    // Nothing of A ends before the test, on any machine.
    const made = pool(4, 120_000);
    for (const _ of [1, 2, 3]) void outcomeOf(made.hashes(A, [POISON]));
    expect([made.runningJobs, made.waitingJobs]).toEqual([2, 1]);
    expect(await made.hashes(B, [large('b')])).toHaveLength(1);
    expect([made.runningJobs, made.waitingJobs]).toEqual([2, 1]);
  });

  it('refuses a tenant with 32 queued jobs, and every tenant at 64, with 503', async () => {
    const made = pool(1);
    const running = outcomeOf(made.hashes(A, [POISON]));
    const waiting = [A, B].flatMap((tenant) =>
      Array.from({ length: 32 }, () => outcomeOf(made.hashes(tenant, [large('x')]))),
    );
    expect([made.runningJobs, made.waitingJobs]).toEqual([1, 64]);
    await expect(made.hashes(A, [large('x')])).rejects.toMatchObject({
      ...unavailable,
      message: 'Too many credentials of this tenant are waiting to be signed',
    });
    // A tenant without a queued job replaces a job of the one with many; its second job is refused.
    const place = outcomeOf(made.hashes(C, [large('x')]));
    expect(made.waitingJobs).toBe(64);
    expect(await waiting[31]).toMatchObject({
      ...unavailable,
      message: 'Too many credentials are waiting to be signed',
    });
    await expect(made.hashes(C, [large('x')])).rejects.toMatchObject({
      ...unavailable,
      message: 'Too many credentials are waiting to be signed',
    });
    // Documents that need no thread are not queued.
    expect(await made.hashes(C, [credential({})])).toHaveLength(1);
    await made.close();
    expect(await Promise.all([running, ...waiting, place])).toEqual(
      Array.from({ length: 66 }, () => expect.objectContaining({ kind: 'unavailable' }) as unknown),
    );
    await expect(made.hashes(C, [large('x')])).rejects.toMatchObject(unavailable);
  });

  it('drops jobs that were queued longer than any caller waits', async () => {
    const made = pool(1, 3000, 500);
    const running = outcomeOf(made.hashes(A, [POISON]));
    const dropped = outcomeOf(made.hashes(B, [large('x')]));
    await new Promise((resolve) => setTimeout(resolve, 600));
    const taken = made.hashes(C, [large('x')]);
    expect(await dropped).toMatchObject({ ...unavailable, message: 'The credentials waited too long to be signed' });
    await running;
    // It was also queued, behind the thread that is terminated.
    expect(await outcomeOf(taken)).toMatchObject(unavailable);
    expect([made.runningJobs, made.waitingJobs]).toEqual([0, 0]);
  });

  it('refuses a tenant whose slow jobs took 15 s within a minute, and no other', async () => {
    const made = pool(1);
    Object.assign(made, { minuteBegan: performance.now() });
    (made as unknown as { slow: Map<string, number> }).slow.set(A, 14_000);
    await outcomeOf(made.hashes(A, [ring(6000)]));
    const refused = await outcomeOf(made.hashes(A, [large('x')]));
    expect(refused).toMatchObject({ kind: 'unavailable', message: 'Credentials of this tenant take too long to sign' });
    expect(await made.hashes(A, [credential({})])).toHaveLength(1);
    expect(await made.hashes(B, [large('x')])).toHaveLength(1);
    Object.assign(made, { minuteBegan: performance.now() - 60_000 });
    expect(await made.hashes(A, [large('x')])).toHaveLength(1);
  });

  it('fails the job of a thread that dies with 503, and continues with another thread', async () => {
    const made = pool(1);
    await made.hashes(A, [large('x')]);
    const running = outcomeOf(made.hashes(A, [POISON]));
    const next = made.hashes(B, [large('x')]);
    await threadsOf(made)[0]!.terminate();
    expect(await running).toMatchObject({ kind: 'unavailable' });
    expect(await next).toHaveLength(1);
  });
});
