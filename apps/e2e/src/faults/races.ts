import { createTenant, exchangeToken, issueCredential, issueNonce, type Operation } from '@attestry/contracts';
import { ApiClient, expectStatus } from '@attestry/testing';
import { exchangeParts, issueParts } from '../crash/load.js';
import { callAt, type Call } from './at-gateway.js';
import type { Stage } from './stage.js';

const CLIENTS = 64;
const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

/** Sends the same call from many clients concurrently, alternating between the gateways. Returns the number of responses by status. */
const race = async (stage: Stage, baseUrl: string, operation: Operation, call: (at: number) => Call) => {
  const { gateways } = stage.cluster;
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => callAt(gateways[at % gateways.length]!, baseUrl, operation, call(at))),
  );
  const won = answers.filter(({ status }) => status < 300);
  const kinds = Map.groupBy(answers, ({ status, text }) => {
    const { error, code } = JSON.parse(text || '{}') as { error?: string; code?: string };
    return status < 300 ? 'won' : `${status} ${error ?? code}`;
  });
  return { won, outcome: Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length])) };
};

const newCode = async ({ scene }: Stage): Promise<string> => {
  const { tenant, configurationId } = scene;
  const { uri } = expectStatus(await tenant.api.offers.create({ credentials: [configurationId], claims: {} }), 200);
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, Record<string, string>>;
  };
  return offer.grants[GRANT]!['pre-authorized_code']!;
};

/** A pre-authorized code, redeemed by all clients concurrently. Also returns the winner's token. */
export const raceForCode = async (stage: Stage) => {
  const code = await newCode(stage);
  const { url } = stage.scene.tenant;
  const { won, outcome } = await race(stage, url, exchangeToken, () => ({
    body: exchangeParts(code).body as URLSearchParams,
  }));
  return { outcome, token: (JSON.parse(won[0]?.text ?? '{}') as { access_token?: string }).access_token };
};

/** A nonce, used in a proof by all clients concurrently. */
export const raceForNonce = async (stage: Stage, token: string) => {
  const { tenant, configurationId } = stage.scene;
  const wire = new ApiClient(tenant.url);
  const { c_nonce: nonce } = expectStatus(await wire.call<{ c_nonce: string }>(issueNonce), 200);
  const calls = Array.from({ length: CLIENTS }, () => {
    const entry = { nonce, token, configurationId } as Parameters<typeof issueParts>[0];
    return { token, body: issueParts(entry, tenant.url).body as object };
  });
  return (await race(stage, tenant.url, issueCredential as unknown as Operation, (at) => calls[at]!)).outcome;
};

/** A subdomain, claimed by all clients concurrently. */
export const raceForSubdomain = async (stage: Stage, subdomain: string) => {
  const { management, environmentId } = stage.scene;
  const { client } = management;
  const body = { name: subdomain, subdomain, environmentId };
  const operation = createTenant as unknown as Operation;
  return (await race(stage, client.baseUrl, operation, () => ({ token: client.token!, body }))).outcome;
};
