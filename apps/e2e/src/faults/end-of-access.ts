import { listDids, type Operation } from '@attestry/contracts';
import { connectWithRoles, expectStatus } from '@attestry/testing';
import { callAt } from './at-gateway.js';
import type { Stage } from './stage.js';

export interface EndOfAccess {
  /** Milliseconds from the 204 to the last successful response, by gateway; below 0 when there was none after it. */
  lastSuccess: number[];
  /** Answers 401 at each gateway. */
  refused: number[];
  /** Anything else. */
  faults: string[];
}

/** Uses a client's token at every gateway without a pause, deletes the client, and measures how long the token is accepted. */
export const deleteClientInUse = async (stage: Stage, watchMs = 2500): Promise<EndOfAccess> => {
  const { cluster, scene } = stage;
  const { management, tenant } = scene;
  const leaving = await connectWithRoles(cluster, management, tenant, ['issuer']);
  const { gateways } = cluster;
  const successes = gateways.map(() => -Infinity);
  const refused = gateways.map(() => 0);
  const faults: string[] = [];
  let ended = false;
  const using = gateways.flatMap((gateway, at) =>
    [1, 2].map(async () => {
      while (!ended) {
        const token = leaving.client.token!;
        const { status, text } = await callAt(gateway, tenant.url, listDids as unknown as Operation, { token });
        if (status === 200) successes[at] = performance.now();
        else if (status === 401) refused[at]! += 1;
        else faults.push(`${gateway.name}: ${status} ${text}`);
      }
    }),
  );
  await stage.rest(300, 600);
  expectStatus(await management.clients.delete(tenant.id, leaving.clientId), 204);
  const deleted = performance.now();
  await new Promise((resolve) => setTimeout(resolve, watchMs));
  ended = true;
  await Promise.all(using);
  return { lastSuccess: successes.map((at) => Math.round(at - deleted)), refused, faults };
};
