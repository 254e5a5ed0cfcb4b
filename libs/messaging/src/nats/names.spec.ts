import { Names, token } from './names.js';

describe('the names on a NATS server', () => {
  const names = new Names('attestry');

  it('are of one platform', () => {
    expect(names.request('op.dids.create-did')).toBe('attestry.call.op.dids.create-did');
    expect(names.subjectOf(names.event('event.dids.did-created'))).toBe('event.dids.did-created');
    expect(() => new Names('a.b')).toThrow('namespace');
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

  it('have tokens that two texts never share', () => {
    expect(token('webhooks.schedule')).toBe('webhooks=2e=schedule');
    expect(token('event-1_A')).toBe('event-1_A');
    expect(new Set(['a.b', 'a=2e=b', 'a b', 'a_b'].map(token)).size).toBe(4);
  });
});
