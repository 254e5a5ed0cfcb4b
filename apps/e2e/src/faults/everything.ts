import { waitUntil } from '@attestry/testing';
import { readCheckedEvents } from '@attestry/testing/services';
import { attemptIds, checkDomain, deliveryErrors } from '../crash/verify-folder.js';
import type { Stage } from './stage.js';

const ended = /^Delivery(Succeeded|Exhausted|Cancelled)$/;

/** Compares the domain's events with the ledger and the receiver's webhooks, once nothing is in progress. */
export const checkEverything = async (stage: Stage): Promise<string[]> => {
  const { sink, ledger, stores } = stage;
  const faults: string[] = [];
  const domain = await waitUntil(
    async () => {
      const events = await readCheckedEvents(stores.events, []);
      const scheduled = events.filter(({ type }) => type === 'DeliveryScheduled').length;
      const done = events.filter(({ type }) => ended.test(type)).length;
      if (done < scheduled) throw new Error(`${scheduled - done} deliveries are under way`);
      return readCheckedEvents(stores.events, faults);
    },
    { timeoutMs: 60_000, intervalMs: 500, what: 'the end of deliveries' },
  );
  checkDomain(domain, faults);

  const received = sink.received.filter(({ path }) => path === '/all');
  const taken = received.filter(({ status }) => status === 200);
  // At least once: every received request is an attempt in the store.
  const attempts = attemptIds(domain);
  for (const { body } of sink.received)
    if (!attempts.has(body.deliveryId)) faults.push(`delivery ${body.deliveryId} is no attempt in the store`);
  const tenantId = stage.scene.tenant.id;
  const gone = new Set(domain.filter(({ type }) => type === 'UserDeleted').map(({ data }) => data['userId']));
  const issued = domain.filter(
    ({ type, data, metadata }) =>
      type === 'CredentialIssued' && metadata.tenantId === tenantId && !gone.has(data['userId']),
  );
  const got = new Set(taken.map(({ body }) => `${body.event.type} ${body.event.id}`));
  for (const { id } of issued)
    for (const event of [`OpenIdCredentialIssued ${id}`, `OpenIdCredentialIssuedSummary ${id}`])
      if (!got.has(event)) faults.push(`${event} was not delivered: ${deliveryErrors(domain, event).join()}`);

  // Every credential that a wallet received is an event and was delivered to the receiver.
  const bodies = new Set(taken.map(({ body }) => body.event.payload['credential']));
  const living = [...ledger.users, ...ledger.people].filter(({ life }) => life === 'active');
  for (const credential of living.flatMap(({ credentials }) => credentials))
    if (!bodies.has(credential)) faults.push(`an acknowledged credential did not come to the receiver`);
  return faults;
};
