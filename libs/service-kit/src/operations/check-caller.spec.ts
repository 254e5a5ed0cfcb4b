import {
  createDid,
  issueCredential,
  issueToken,
  listTenants,
  lookUpTenant,
  reserveIssuerKey,
  retrieveUserInformation,
  type Caller,
  type Operation,
} from '@attestry/contracts';
import { checkCaller } from './check-caller.js';

const client: Caller = { kind: 'client', clientId: 'c' };
const service = (name: string): Caller => ({ kind: 'service', service: name });

/** Whether a request is accepted. */
const believed = (operation: unknown, from: string, caller: Caller): boolean => {
  try {
    checkCaller(operation as Operation, { caller }, from);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ kind: 'forbidden', message: 'Forbidden', check: 'check-caller' });
    return false;
  }
};

describe('the caller that a request names', () => {
  it('is accepted from the gateway, which has authenticated the caller', () => {
    expect(believed(createDid, 'gateway', client)).toBe(true);
    expect(believed(issueToken, 'gateway', { kind: 'public' })).toBe(true);
    expect(believed(listTenants, 'gateway', { kind: 'management', clientId: 'm' })).toBe(true);
    expect(believed(listTenants, 'gateway', { kind: 'user', userId: 'u' })).toBe(true);
    // A member of the tenant.
    expect(believed(createDid, 'gateway', { kind: 'user', userId: 'u' })).toBe(true);
    expect(believed(issueCredential, 'gateway', { kind: 'holder' })).toBe(true);
    expect(believed(lookUpTenant, 'gateway', service('gateway'))).toBe(true);
  });

  it('is refused from the gateway for a kind of caller without access to the operation', () => {
    for (const operation of [createDid, issueToken, issueCredential, listTenants])
      expect(believed(operation, 'gateway', service('gateway'))).toBe(false);
    for (const operation of [issueToken, issueCredential, listTenants])
      expect(believed(operation, 'gateway', client)).toBe(false);
    for (const operation of [createDid, issueCredential, listTenants])
      expect(believed(operation, 'gateway', { kind: 'public' })).toBe(false);
    for (const operation of [issueToken, issueCredential, lookUpTenant])
      expect(believed(operation, 'gateway', { kind: 'user', userId: 'u' })).toBe(false);
  });

  it('is refused as a client where the operation is for users', () => {
    expect(believed(retrieveUserInformation, 'gateway', { kind: 'user', userId: 'u' })).toBe(true);
    const call = () =>
      checkCaller(
        retrieveUserInformation as unknown as Operation,
        { caller: { kind: 'management', clientId: 'm' } },
        'gateway',
      );
    expect(call).toThrow(
      expect.objectContaining({ kind: 'forbidden', message: 'The operation is for users; the caller is a client' }),
    );
  });

  it('is accepted from a service that names itself and may call the operation', () => {
    expect(believed(reserveIssuerKey, 'issuance', service('issuance'))).toBe(true);
    expect(believed(reserveIssuerKey, 'webhooks', service('webhooks'))).toBe(false);
    expect(believed(reserveIssuerKey, 'gateway', service('gateway'))).toBe(false);
  });

  it('is refused from a service that names another caller, and from any participant that names another service', () => {
    for (const caller of [client, service('gateway'), service('dids'), { kind: 'public' } as const])
      expect(believed(reserveIssuerKey, 'issuance', caller)).toBe(false);
    expect(believed(createDid, 'gateway', service('issuance'))).toBe(false);
    expect(believed(lookUpTenant, 'gateway', client)).toBe(false);
  });

  it('is refused from a service that may not call the operation', () => {
    for (const from of ['issuance', 'dids', 'nobody', '', 'gateway.gateway'])
      for (const caller of [client, service(from)]) expect(believed(createDid, from, caller)).toBe(false);
  });
});
