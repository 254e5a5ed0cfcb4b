import { RESERVED_SUBDOMAINS } from '@attestry/contracts';
import { given } from '@attestry/event-store';
import { ABANDONED_AFTER_MS, claimSubdomain } from './subdomain.decisions.js';
import type { SubdomainEvent } from './subdomain.events.js';
import { subdomain, subdomainStream, type SubdomainState } from './subdomain.state.js';

const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = (ms: number) => new Date(start + ms).toISOString();
const claimed = (owner: string, ms = 0): SubdomainEvent => ({
  type: 'SubdomainClaimed',
  data: { environmentId: 'env', subdomain: 'acme', owner, claimedAt: at(ms) },
});
const released = (owner: string): SubdomainEvent => ({ type: 'SubdomainReleased', data: { owner } });
const claim =
  (owner: string, { ms = 0, ownerCreated = false, name = 'acme' } = {}) =>
  (state: SubdomainState) =>
    claimSubdomain(state, { environmentId: 'env', subdomain: name, owner }, { now: at(ms), ownerCreated });

describe('a subdomain', () => {
  it('is claimed when free, also after it was released', () => {
    given(subdomain, [])
      .when(claim('t1'))
      .then([claimed('t1')]);
    given(subdomain, [claimed('t1'), released('t1')])
      .when(claim('t2', { ms: 5 }))
      .then([claimed('t2', 5)]);
  });

  it('is claimed again by its owner without a new event', () => {
    given(subdomain, [claimed('t1')])
      .when(claim('t1', { ms: 5 }))
      .then([]);
  });

  it('is taken while its owner was created, however long ago', () => {
    given(subdomain, [claimed('t1')])
      .when(claim('t2', { ownerCreated: true }))
      .thenThrows('BadRequest');
    given(subdomain, [claimed('t1')])
      .when(claim('t2', { ms: 1e12, ownerCreated: true }))
      .thenThrows('BadRequest');
  });

  it('is taken over from an owner that was not created within a minute, not before', () => {
    given(subdomain, [claimed('t1')])
      .when(claim('t2', { ms: ABANDONED_AFTER_MS - 1 }))
      .thenThrows('ServiceUnavailable');
    given(subdomain, [claimed('t1')])
      .when(claim('t2', { ms: ABANDONED_AFTER_MS }))
      .then([released('t1'), claimed('t2', ABANDONED_AFTER_MS)]);
  });

  it.each(['ab', 'Acme', 'acme_', '-acme', 'acme-', 'xn--acme', 'a'.repeat(64), 'acme.x', 'äcme', 'acme\n', ''])(
    'is never %j',
    (name) => given(subdomain, []).when(claim('t1', { name })).thenThrows('BadRequest'),
  );

  it.each([...RESERVED_SUBDOMAINS])('is never the reserved %s', (name) =>
    given(subdomain, []).when(claim('t1', { name })).thenThrows('BadRequest'),
  );

  it('has one stream per environment and name', () => {
    expect(subdomainStream('env', 'acme')).toBe('subdomain-env+acme');
  });
});
