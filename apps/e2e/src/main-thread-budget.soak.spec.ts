import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issueCredential, OPERATIONS, type DidConfiguration, type Operation } from '@attestry/contracts';
import {
  expectStatus,
  hostFetch,
  MAIN_THREAD_LIMIT_MS,
  MAIN_THREAD_PROBE,
  MainThread,
  makeHolderKey,
  PLATFORM_START_MS,
  Wallet,
  WalletProvider,
  type OperationParts,
  type PlatformProcess,
} from '@attestry/testing';
import { SignJWT } from 'jose';
import { hostileProofs } from './budget/hostile-proofs.js';
import { hostileRequests, type Hostile } from './budget/hostile-requests.js';
import { send } from './budget/send.js';
import { clientOf, rightToken } from './registry/calls.js';
import { closeWorld, openWorld } from './registry/open-world.js';
import { ROWS } from './registry/rows.js';
import { jwtVcRequest } from './registry/things.js';
import type { World } from './registry/world.js';

/** Times the work for four times the size. */
const MOST_GROWTH = 6;
/** Blocks that timers and followers execute meanwhile, at most. */
const NOISE = 20_000;
/** Requests whose blocks are counted at a time. */
const TOGETHER = 16;
const OPERATION_MS = 240_000;

const operations = OPERATIONS.filter(({ http }) => http !== undefined).map((it) => [it.name, it as Operation] as const);

describe('the main thread', () => {
  let world: World;
  let thread: MainThread;
  beforeAll(async () => {
    world = await openWorld({ preload: MAIN_THREAD_PROBE });
    thread = await MainThread.of(world.platform as PlatformProcess);
  }, PLATFORM_START_MS);
  afterAll(async () => world && closeWorld(world));

  /**
   * A sender for one operation: its right call is made again once it has been used up. Hostile lines alone do not need a new one: address and
   * headers are read before it is known whether the resource still exists.
   */
  const sender = (operation: Operation, makeRight = ROWS[operation.name]!.right) => {
    const client = clientOf(world, operation, rightToken(world, operation));
    let right: OperationParts | undefined;
    let isUsedUp = false;
    const statuses = new Set<number>();
    return {
      statuses,
      async send({ of }: Hostile, size: number): Promise<void> {
        right ??= await makeRight(world);
        let parts = of(right, size);
        if (isUsedUp && parts.body) {
          right = await makeRight(world);
          isUsedUp = false;
          parts = of(right, size);
        }
        const status = await send(client, operation, right, parts);
        if (!parts.headers && !parts.path) statuses.add(status);
        if (status < 400 && operation.kind === 'command') isUsedUp = true;
      },
    };
  };

  it.each(operations)(
    'is not blocked by %s',
    async (_name, operation) => {
      const { statuses, ...requests } = sender(operation);
      const held = await thread.heldByEach(hostileRequests(operation), (it) => requests.send(it, it.size));
      expect(held.map(({ request, ms }) => `${request.name}: ${ms} ms`)).toEqual([]);
      // Neither a server error nor refused because of the caller or a limit: the body was read.
      const takesBody = operation.body !== undefined || operation.http!.accepts !== undefined;
      const refusals = takesBody ? [401, 403, 429] : [401, 403];
      expect([...statuses].filter((status) => refusals.includes(status) || status >= 500)).toEqual([]);
    },
    OPERATION_MS,
  );

  it('is not blocked by the first domain linkage credential of a BLS12-381 key', async () => {
    const { api, url } = world.tenant;
    const linkNewDid = async () => {
      const { did } = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Bls12381G2' } }), 201);
      const { linked_dids: entries } = (await (
        await hostFetch(`${url}/.well-known/did-configuration`)
      ).json()) as DidConfiguration;
      expect(entries.map(({ issuer }) => issuer)).toContain(did);
    };
    // The first key of a process computes a table.
    await linkNewDid();
    expect(await thread.heldBy(linkNewDid)).toBeLessThanOrEqual(MAIN_THREAD_LIMIT_MS);
  });

  it.each(['keyAttestation', 'proofRootCertificates'] as const)(
    'is not blocked by key proofs with certificates for a configuration with %s, nor by as many that are valid',
    async (requirement) => {
      const provider = await WalletProvider.create();
      const roots = [provider.rootCertificate];
      const requirements = { keyAttestation: { rootCertificates: roots }, proofRootCertificates: roots };
      const { api } = world.tenant;
      const request = { ...jwtVcRequest(), [requirement]: requirements[requirement] };
      const { id } = expectStatus(await api.jwtVc.create(request), 201);
      /** Ten proofs, the largest valid number. */
      const right = async (): Promise<OperationParts> => {
        const offered = { credentials: [id], claims: { given_name: 'Ada' } };
        const wallet = new Wallet();
        const offer = await wallet.resolveOffer(expectStatus(await api.offers.create(offered), 200).uri);
        const metadata = await wallet.metadata(offer.credential_issuer);
        const token = await wallet.accessToken(offer, metadata);
        const proofs = Array.from({ length: 10 }, async () => {
          const key = await makeHolderKey();
          const nonce = await wallet.nonce(metadata);
          if (requirement === 'keyAttestation')
            return wallet.proof(metadata, id, key, nonce, await provider.attestKeys([key.publicJwk], nonce));
          const x5c = await provider.certify(key.publicJwk);
          return new SignJWT({ aud: world.tenant.url, nonce })
            .setIssuedAt()
            .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', x5c })
            .sign(key.privateKey);
        });
        return { token, body: { credential_configuration_id: id, proofs: { jwt: await Promise.all(proofs) } } };
      };
      const { statuses, ...requests } = sender(issueCredential, right);
      const heldBy = async (hostile: Hostile[]) => {
        const held = await thread.heldByEach(hostile, (it) => requests.send(it, it.size));
        return held.map(({ request, ms }) => `${request.name}: ${ms} ms`);
      };
      expect(await heldBy(await hostileProofs(requirement))).toEqual([]);
      expect([...statuses]).toEqual([400]);
      expect(await heldBy([{ name: 'ten valid proofs', size: 1, of: () => ({}) }])).toEqual([]);
      expect([...statuses]).toEqual([400, 200]);
    },
    OPERATION_MS,
  );

  it(
    'is not blocked by JSON-LD contexts of 1 MiB that nest [T565]',
    async () => {
      const scoped = (levels: number): object =>
        levels === 0
          ? { a: `urn:example:${'x'.repeat(980_000)}` }
          : { a: { '@id': `urn:example:a${levels}`, '@context': [scoped(levels - 1)] } };
      const text = JSON.stringify({ '@context': [{ '@version': 1.1 }, scoped(9)] });
      // Each run stores documents of its own.
      let served = 0;
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/ld+json' });
        response.end(text.replace('urn:example:x', `urn:example:${++served}`));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const statuses = new Set<number>();
        const held = await thread.heldBy(async () => {
          const contexts = Array.from({ length: 8 }, (_, n) => `http://127.0.0.1:${port}/${n}`);
          const request = { ...jwtVcRequest(), type: `Nested${served}`, contexts };
          statuses.add((await world.tenant.api.webSemantic.create(request)).status);
        });
        expect(held).toBeLessThanOrEqual(MAIN_THREAD_LIMIT_MS);
        expect([...statuses]).toEqual([201]);
        expect(served).toBeGreaterThanOrEqual(8);
      } finally {
        server.close();
      }
    },
    OPERATION_MS,
  );

  describe('the work of a request', () => {
    beforeAll(() => thread.countBlocks());

    it.each(operations)(
      'grows at most in proportion to its size: %s',
      async (_name, operation) => {
        const requests = sender(operation);
        const counted = hostileRequests(operation).filter(({ part }) => part !== undefined);
        // The base cost of a request of the operation.
        const none = await thread.blocksOf(() => requests.send(counted[0]!, 1));
        const grown: string[] = [];
        const measure = async (hostile: Hostile) => {
          const blocks = async (size: number) => (await thread.blocksOf(() => requests.send(hostile, size))) - none;
          let growth = Infinity;
          for (let run = 0; run < 3 && growth > MOST_GROWTH; run++) {
            const fourfold = await blocks(4 * hostile.part!);
            // Below this number growth is not measured.
            const once = fourfold > MOST_GROWTH * NOISE ? Math.max(NOISE, await blocks(hostile.part!)) : NOISE;
            growth = Math.min(growth, fourfold / once);
          }
          if (growth > MOST_GROWTH) grown.push(`${hostile.name}: ${growth.toFixed(1)} times`);
        };
        /** Reading the counts costs more than most requests: where all of them together are below that number, so is each. */
        const measureEach = async (some: readonly Hostile[]): Promise<void> => {
          if (some.length === 1) return measure(some[0]!);
          const together = await thread.blocksOf(async () => {
            for (const hostile of some) await requests.send(hostile, 4 * hostile.part!);
          });
          if (together <= MOST_GROWTH * NOISE) return;
          const half = some.length >> 1;
          await measureEach(some.slice(0, half));
          await measureEach(some.slice(half));
        };
        for (let from = 0; from < counted.length; from += TOGETHER)
          await measureEach(counted.slice(from, from + TOGETHER));
        expect(grown).toEqual([]);
      },
      OPERATION_MS,
    );
  });
});
