// `npm run bench -- --rebuild [--json]`: how fast projections are rebuilt from the first event, embedded and in PostgreSQL.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, EmbeddedEventStore } from '@attestry/event-store';
import { EmbeddedReadModels, migratePostgresReadModels, openPostgresReadModels } from '@attestry/read-model';
import { openEngines, parseConfig, startServices } from '@attestry/service-kit';
import { findPostgres, PostgresServer } from '@attestry/testing';

const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const only = args.find((word) => word.startsWith('--only='))?.slice('--only='.length);
const say = (line) => {
  if (!json) console.log(line);
};

const TENANT = '11111111-1111-4111-8111-111111111111';
const START = Date.UTC(2026, 0, 1);
const uuid = (kind, n) => `${kind}0000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
const time = (n) => new Date(START + n * 10).toISOString();

/** Projections whose events mostly become rows; those of the others fold. */
const ROWS = new Set(['analytics.events', 'issuance.users', 'dids.did-lists']);

/** Streams of a tenant as the services write them. */
const HISTORIES = {
  operations: {
    projections: ['analytics.events'],
    streams: (n) => {
      const record = {
        prefix: 'DID_CREATE',
        category: 'did',
        operation: 'dids.create-did',
        clientId: 'c',
        outcome: 'SUCCESS',
      };
      const times = { startedAt: time(n), endedAt: time(n) };
      return [
        `operation-${TENANT}+${n % 50}`,
        ['OperationRecorded', { ...record, ...times, object: { type: 'did', id: `did:key:z${n}` } }],
      ];
    },
  },
  issuance: {
    projections: ['issuance.users', 'issuance.session-keys'],
    streams: (n) => {
      const [userId, sessionId, tokenId] = ['a', 'b', 'c'].map((kind) => uuid(kind, n));
      const grant = { tokenId, kind: 'access', mac: 'm'.repeat(43), keyId: 'p1', expiresAt: time(n) };
      const entries = [{ credentialConfigurationId: uuid('d', 1), scope: 'jwt_vc_json:Diploma' }];
      const issuer = 'http://acme.localhost:8080';
      return [
        `issuanceSession-${TENANT}+${sessionId}`,
        [
          'PreAuthorizedOfferCreated',
          {
            ...{ sessionId, issuer, binding: 'none', userId, entries, code: grant, createdAt: time(n) },
            origin: { kind: 'preAuthorizedOffer', sealedDocument: 's'.repeat(600) },
            ...(n % 2 && { sealedClaims: `v1.${sessionId}.${'s'.repeat(200)}` }),
          },
        ],
        [
          'PreAuthorizedCodeRedeemed',
          { sessionId, tokenId, accessToken: grant, scope: entries[0].scope, redeemedAt: time(n) },
        ],
        [
          'CredentialIssued',
          {
            ...{ credentialId: uuid('e', n), answerId: uuid('f', n), sessionId, offerId: sessionId, userId, issuer },
            ...{ format: 'jwt_vc_json', profile: 'jwt-vc', credentialType: 'Diploma', tokenId },
            ...{ credentialConfigurationId: uuid('d', 1), configurationVersion: 1 },
            holderKey: { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43) },
            ...{ issuedAt: time(n), validFrom: time(n) },
          },
        ],
      ];
    },
    also: (n) => [
      `user-${TENANT}+${uuid('a', n)}`,
      ['UserCreated', { userId: uuid('a', n), createdAt: time(n), sealedClaims: 's'.repeat(100) }],
    ],
  },
  deliveries: {
    projections: ['webhooks.webhooks'],
    streams: (n) => {
      const deliveryKey = `k${n}`;
      const attempt = { deliveryKey, deliveryId: uuid('d', n), attempt: 1 };
      return [
        `webhookDelivery-${TENANT}+${deliveryKey}`,
        [
          'DeliveryScheduled',
          {
            ...{ deliveryKey, webhookId: uuid('a', 1), attemptAt: time(n) },
            event: { id: uuid('e', n), type: 'OpenIdCredentialIssued', timestamp: time(n) },
            payload: {
              ...{ format: 'jwt_vc_json', userId: uuid('a', n), credentialProfile: 'jwt-vc' },
              ...{ credentialConfigurationId: uuid('d', 1), credentialId: uuid('e', n) },
            },
          },
        ],
        ['DeliveryAttemptStarted', { ...attempt, startedAt: time(n) }],
        ['DeliverySucceeded', { ...attempt, status: 200 }],
      ];
    },
  },
  dids: {
    projections: ['dids.did-lists'],
    streams: (n) => {
      const did = `did:key:z${n}`;
      const document = { id: did, verificationMethod: [{ id: `${did}#1`, publicKeyMultibase: 'z'.repeat(48) }] };
      const key = { didDocumentKeyId: `${did}#1`, kmsKeyId: uuid('a', n), algorithm: 'Ed25519', purposes: [] };
      return [
        `did-${TENANT}+${did}`,
        [
          'DidCreated',
          { ...{ did, method: 'key', document, registrationStatus: 'COMPLETED', registered: START + n }, keys: [key] },
        ],
        ['DidReserved', { configurationId: uuid('d', n), algorithm: 'Ed25519', reservedAt: time(n) }],
      ];
    },
  },
};

/** The services' own declarations, as they pass them to the read models. */
const declarations = async (folder) => {
  const found = new Map();
  const engines = await openEngines(parseConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', DATA_DIR: folder }));
  for (const readModels of [engines.readModels, engines.operationReadModels]) {
    const start = readModels.start.bind(readModels);
    readModels.start = (projection) => {
      found.set(projection.name, projection);
      return start(projection);
    };
  }
  const { SERVICES } = await import('@attestry/platform');
  const services = await startServices(SERVICES, engines);
  await services.close();
  await engines.close();
  return found;
};

/** Versions in which releases store these events; others: 1. */
const VERSIONS = {
  ...{ PreAuthorizedOfferCreated: 3, PreAuthorizedCodeRedeemed: 2, CredentialIssued: 2 },
  ...{ UserCreated: 2, DeliveryScheduled: 3 },
};

/** Appends to several streams concurrently, as their order does not matter here. */
const fill = async (store, { streams, also }, count) => {
  let serial = 0;
  const revisions = new Map();
  let written = 0;
  const append = async ([stream, ...events]) => {
    const revision = revisions.get(stream) ?? -1;
    revisions.set(stream, revision + events.length);
    written += events.length;
    const at = time(serial);
    await store.append(
      stream,
      events.map(([type, data]) =>
        chainEvent(CHAIN_START, {
          id: uuid('9', serial++),
          type,
          schemaVersion: VERSIONS[type] ?? 1,
          data,
          metadata: {
            ...{ tenantId: TENANT, requestId: uuid('8', serial), actor: 'client:c', operation: 'bench' },
            ...{ correlationId: 'c', causationId: 'c', occurredAt: at, partitionKey: TENANT },
          },
        }),
      ),
      revision,
    );
  };
  for (let n = 0; n < count; n += 500) {
    const group = Array.from({ length: Math.min(500, count - n) }, (_, i) => n + i);
    if (also) await Promise.all(group.map((i) => append(also(i))));
    await Promise.all(group.map((i) => append(streams(i))));
  }
  return written;
};

const programs = findPostgres();
const folder = mkdtempSync(join(tmpdir(), 'attestry-rebuild-'));
const server = programs === undefined ? undefined : await PostgresServer.start(programs);
if (!server) say('PostgreSQL is not installed; only the embedded engine is measured');
const results = [];
try {
  const projections = await declarations(join(folder, 'platform'));
  for (const [name, history] of Object.entries(HISTORIES)) {
    if (only && only !== name) continue;
    const store = await EmbeddedEventStore.openFile({ file: join(folder, `${name}.db`) });
    const events = await fill(store, history, quick ? 2_000 : 20_000);
    const common = { eventStore: store, leases: store.leases, holder: 'bench' };
    const engines = {
      embedded: () => EmbeddedReadModels.openFile({ ...common, file: join(folder, `${name}-read.db`) }),
      ...(server && {
        PostgreSQL: async () => {
          const options = { url: server.url(), schema: name };
          await migratePostgresReadModels(options);
          return openPostgresReadModels({ ...common, ...options });
        },
      }),
    };
    for (const [engine, open] of Object.entries(engines)) {
      for (const projection of history.projections) {
        const readModels = await open();
        const running = await readModels.start(projections.get(projection));
        await running.waitForHead(600_000);
        const before = process.cpuUsage();
        const start = performance.now();
        await running.rebuild();
        const seconds = (performance.now() - start) / 1000;
        const { user, system } = process.cpuUsage(before);
        const result = {
          projection,
          engine,
          events,
          eventsPerSecond: Math.round(events / seconds),
          cpuMicrosecondsPerEvent: Math.round((user + system) / events),
          kind: ROWS.has(projection) ? 'rows' : 'folded',
        };
        results.push(result);
        say(
          `${projection.padEnd(22)} ${engine.padEnd(11)} ${String(result.eventsPerSecond).padStart(7)} events/s` +
            `  ${String(result.cpuMicrosecondsPerEvent).padStart(4)} µs of CPU an event  (${result.kind})`,
        );
        await readModels.close();
      }
    }
    await store.close();
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (json) console.log(JSON.stringify({ rebuild: results }));
