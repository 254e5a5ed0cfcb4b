import { setTimeout as pause } from 'node:timers/promises';
import { issueNonce, retrieveIssuerMetadata, retrieveWebhookKeys } from '@attestry/contracts';
import { ApiClient, isBrokenConnection, requestToken } from '@attestry/testing';
import { DEADLINE_MS, type Stage } from './stage.js';

/** Calls of every service, whatever else the clients do; each with what it answers when all is well. */
const probes = ({ scene, cluster }: Stage): [string, () => ReturnType<ApiClient['request']>, number][] => {
  const { api, url, admin } = scene.tenant;
  const wire = new ApiClient(url);
  const credentials = { client_id: admin.clientId, client_secret: admin.clientSecret };
  return [
    ['list DIDs', () => api.dids.list(), 200],
    ['create a DID', () => api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201],
    ['list users', () => api.users.list({ limit: 5 }), 200],
    ['list webhooks', () => api.webhooks.list(), 200],
    ['list configurations', () => api.jwtVc.list({ limit: 5 }), 200],
    ['list events', () => api.analytics.list({ limit: 5 }), 200],
    ['a token', () => requestToken(cluster.ready.auth, credentials, url), 200],
    ['a nonce', () => wire.call(issueNonce), 200],
    ['the metadata', () => wire.call(retrieveIssuerMetadata), 200],
    ['webhook keys', () => wire.call(retrieveWebhookKeys), 200],
    ['list tenants', () => scene.management.tenants.list({ limit: 5 }), 200],
  ];
};

export interface Outage {
  /** Answers by status. */
  statuses: Map<number, number>;
  /** Milliseconds of the slowest. */
  slowest: number;
  faults: string[];
}

/** Calls every service repeatedly until it is stopped; only the right response or 503 is accepted. */
export const probe = async (stage: Stage, signal: AbortSignal): Promise<Outage> => {
  const outage: Outage = { statuses: new Map(), slowest: 0, faults: [] };
  const ask = async ([name, call, expected]: ReturnType<typeof probes>[number]) => {
    while (!signal.aborted) {
      const began = performance.now();
      try {
        const { status, text } = await call();
        outage.statuses.set(status, (outage.statuses.get(status) ?? 0) + 1);
        if (status !== expected && status !== 503) outage.faults.push(`${name}: ${status} ${text}`);
      } catch (error) {
        outage.faults.push(`${name}: ${isBrokenConnection(error) ? 'no answer' : String(error)}`);
      }
      const took = Math.round(performance.now() - began);
      outage.slowest = Math.max(outage.slowest, took);
      if (took > stage.ledger.patienceMs) outage.faults.push(`${name} took ${took} ms, the deadline is ${DEADLINE_MS}`);
      await pause(200);
    }
  };
  await Promise.all(probes(stage).map(ask));
  return outage;
};
