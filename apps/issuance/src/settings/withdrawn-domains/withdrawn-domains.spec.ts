import { given as givenOf } from '@attestry/event-store';
import { issuerHost, isUnder } from '../credential-configuration/configurations-under.js';
import { recordDomainChange } from './withdrawn-domains.decisions.js';
import type { WithdrawnDomainsEvent } from './withdrawn-domains.events.js';
import { withdrawnDomains, type WithdrawnDomainsState } from './withdrawn-domains.state.js';

const given = (events: WithdrawnDomainsEvent[]) =>
  givenOf<WithdrawnDomainsState, WithdrawnDomainsEvent>(withdrawnDomains, events);
const withdrawn = (domain: string, revision: number, activeConfigurations = 0): WithdrawnDomainsEvent => ({
  type: 'IssuerDomainWithdrawn',
  data: { domain, revision, activeConfigurations },
});
const restored = (domain: string, revision: number): WithdrawnDomainsEvent => ({
  type: 'IssuerDomainVerified',
  data: { domain, revision },
});
const note =
  (domain: string, revision: number, isVerified: boolean, activeConfigurations = 0) =>
  (state: WithdrawnDomainsState) =>
    recordDomainChange(state, { domain, revision, isVerified }, { activeConfigurations });

describe('withdrawn domains', () => {
  it('are those that were verified and no longer are, beside the one that is [T590]', () => {
    given([])
      .when(note('a.example', 1, true))
      .then([restored('a.example', 1)]);
    given([restored('a.example', 1)])
      .when(note('a.example', 2, true))
      .then([]);
    given([restored('a.example', 1)]).thenState({ verified: 'a.example', domains: [], revision: 1 });
    given([restored('a.example', 1), withdrawn('a.example', 2)]).thenState({ domains: ['a.example'], revision: 2 });
    given([restored('b.example', 3), withdrawn('a.example', 4)]).thenState({
      ...{ verified: 'b.example', domains: ['a.example'], revision: 4 },
    });
    given([])
      .when(note('a.example', 2, false))
      .then([withdrawn('a.example', 2)]);
    given([withdrawn('a.example', 2)])
      .when(note('a.example', 5, true))
      .then([restored('a.example', 5)]);
    given([withdrawn('a.example', 2), withdrawn('b.example', 6), restored('a.example', 9)]).thenState({
      ...{ verified: 'a.example', domains: ['b.example'], revision: 9 },
    });
  });

  it('record how many configurations issued under them', () =>
    given([])
      .when(note('a.example', 2, false, 3))
      .then([withdrawn('a.example', 2, 3)]));

  it('do not change by events that are redelivered, or late', () => {
    given([withdrawn('a.example', 2)])
      .when(note('a.example', 2, false))
      .then([]);
    given([withdrawn('a.example', 2), restored('a.example', 5)])
      .when(note('a.example', 2, false))
      .then([]);
    given([withdrawn('a.example', 2), restored('a.example', 5), withdrawn('a.example', 6)])
      .when(note('a.example', 5, true))
      .then([]);
  });
});

describe('configurations under a domain', () => {
  const under = (...dids: string[]) => dids.map((did) => ({ issuerKey: { did } as never }));

  it('are those whose DID is at that host, whatever its path', () =>
    expect(
      under(
        ...['did:web:a.example', 'did:web:A.example:issuers:x', 'did:web:a.example%3A8443', 'did:web:b.a.example'],
        ...['did:web:a.example.evil.example', 'did:key:z6Mk', 'did:web:b.example:a.example'],
      ).filter((it) => isUnder(it, 'a.example')),
    ).toHaveLength(2));

  it('are not those whose issuer is only known when a credential is issued', () =>
    expect(isUnder({}, 'a.example')).toBe(false));
});

describe('the host of an issuer', () => {
  it.each([
    ['did:web:A.example', 'a.example'],
    ['did:web:a.example%3A8443:issuers:x', 'a.example:8443'],
    ['https://A.example', 'a.example'],
    ['http://acme.localhost:8080/path', 'acme.localhost:8080'],
    ['did:key:z6Mk', undefined],
  ])('of %s is %s', (issuer, host) => expect(issuerHost(issuer)).toBe(host));
});

describe('an event of the revision that was already processed', () => {
  it('does not change the withdrawn domains', () => {
    given([withdrawn('a.example', 2)])
      .when(note('a.example', 2, true))
      .then([]);
    given([withdrawn('a.example', 2)])
      .when(note('b.example', 2, false))
      .then([]);
  });
});
