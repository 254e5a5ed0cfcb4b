import { given, stateAfter } from '@attestry/event-store';
import { configureClient, registerClient } from './management-client.decisions.js';
import type { ManagementClientEvent } from './management-client.events.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
  type ManagementClientState,
} from './management-client.state.js';

const now = '2026-03-01T10:00:00.000Z';
const mac = (value: string) => ({ pepper: 'p1', mac: value });
const registered = (value = 'm1'): ManagementClientEvent => ({
  type: 'ManagementClientRegistered',
  data: { clientId: 'ops', name: 'Ops', secretMac: mac(value), registeredAt: now },
});
const replaced: ManagementClientEvent = {
  type: 'ManagementClientSecretReplaced',
  data: { clientId: 'ops', secretMac: mac('m2') },
};
const run =
  (decide: typeof registerClient, secret: string, sameSecret = false) =>
  (state: ManagementClientState) =>
    decide(state, { clientId: 'ops', name: 'Ops' }, { secretMac: mac(secret), sameSecret, now });

describe('a management client', () => {
  it('is registered once; another secret for its id is a conflict', () => {
    given(managementClient, []).when(run(registerClient, 'm1')).then([registered()]);
    given(managementClient, [registered()])
      .when(run(registerClient, 'm1', true))
      .then([]);
    given(managementClient, [registered()]).when(run(registerClient, 'm2')).thenThrows('Conflict');
  });

  it('gets a new secret from the configuration', () => {
    given(managementClient, []).when(run(configureClient, 'm1')).then([registered()]);
    given(managementClient, [registered()])
      .when(run(configureClient, 'm1', true))
      .then([]);
    given(managementClient, [registered()]).when(run(configureClient, 'm2')).then([replaced]);
    given(managementClient, [registered(), replaced]).thenState({
      status: 'active',
      clientId: 'ops',
      name: 'Ops',
      secretMac: mac('m2'),
    });
  });

  it('may have any string as id, each with a separate stream', () => {
    const ids = ['ops', 'Ops', 'o+ps', 'o%2Bps', '__proto__', 'ö', ' ', '\u0000', 'x'.repeat(128)];
    expect(ids.filter((id) => !isManagementClientId(id))).toEqual([]);
    expect(new Set(ids.map(managementClientStream)).size).toBe(ids.length);
    expect(['', 'x'.repeat(129), '\ud800'].filter(isManagementClientId)).toEqual([]);
  });
});

describe('the refusal of a management client', () => {
  it('says that its id is taken', () =>
    expect(() => run(registerClient, 'm2')(stateAfter(managementClient, [registered()]))).toThrow(
      'A management client with this id already exists',
    ));
});
