import { Names, ownerOf, token } from './names.js';

describe('the names on a NATS server', () => {
  const names = new Names('attestry');

  it('belong to one platform', () => {
    expect(names.request('gateway', 'op.dids.create-did')).toBe('attestry.call.gateway.op.dids.create-did');
    expect(names.subjectOf(names.event('event.dids.did-created'))).toBe('event.dids.did-created');
    expect(() => new Names('a.b')).toThrow('namespace');
  });

  it('identify the caller only by the subject of the request', () => {
    const caller = (published: string) => names.callerOf(published, 'op.dids.create-did');
    expect(caller(names.request('gateway', 'op.dids.create-did'))).toBe('gateway');
    expect(caller(names.request('gateway', 'op.dids.delete-did'))).toBeUndefined();
    expect(caller('attestry.feed.op.dids.create-did')).toBeUndefined();
    expect(caller('attestry.call.op.dids.create-did')).toBeUndefined();
    expect(caller('attestry.call.a.b.op.dids.create-did')).toBeUndefined();
    expect(caller('other.call.gateway.op.dids.create-did')).toBeUndefined();
    expect(caller('$KV.attestry_issuance.lease')).toBeUndefined();
  });

  it('assign a bucket to each owner of consumers, and an unguessable name to each session', () => {
    expect(ownerOf('webhooks.deliveries')).toBe('webhooks');
    expect(names.bucket(ownerOf('webhooks.deliveries'))).toBe('attestry_webhooks');
    expect(names.bucket(ownerOf('all'))).toBe('attestry_consumers');
    expect(names.session('webhooks.deliveries', 7)).toMatch(/^webhooks=2e=deliveries~7~[\w-]{22}$/);
    expect(names.session('gateway.directory')).not.toBe(names.session('gateway.directory'));
  });

  it('filter as narrowly as one filter can', () => {
    const filter = (...subjects: string[]) => names.filter(subjects).slice('attestry.feed.'.length);
    expect(filter('event.dids.did-created')).toBe('event.dids.did-created');
    expect(filter('event.dids.>')).toBe('event.dids.>');
    expect(filter('event.dids.did-created', 'event.dids.did-deleted')).toBe('event.dids.>');
    expect(filter('event.dids.>', 'event.management.tenant-deleted')).toBe('event.>');
    expect(filter('event.dids.>', 'event.dids.did-deleted')).toBe('event.dids.>');
    expect(filter('event.>', 'operation.start')).toBe('>');
    expect(filter('a.b', 'a.b.c')).toBe('a.>');
  });

  it('have a distinct token for every text', () => {
    expect(token('webhooks.schedule')).toBe('webhooks=2e=schedule');
    expect(token('event-1_A')).toBe('event-1_A');
    expect(new Set(['a.b', 'a=2e=b', 'a b', 'a_b'].map(token)).size).toBe(4);
  });
});
