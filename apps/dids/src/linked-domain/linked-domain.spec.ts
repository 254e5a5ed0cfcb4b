import { given as givenOf } from '@attestry/event-store';
import { recordDomainChange, originsAt } from './linked-domain.decisions.js';
import type { LinkedDomainEvent } from './linked-domain.events.js';
import { linkedDomain, type LinkedDomainState } from './linked-domain.state.js';

const given = (events: LinkedDomainEvent[]) => givenOf<LinkedDomainState, LinkedDomainEvent>(linkedDomain, events);
const linked = (domain: string, revision: number): LinkedDomainEvent => ({
  type: 'DomainLinked',
  data: { domain, revision },
});
const unlinked = (domain: string, revision: number): LinkedDomainEvent => ({
  type: 'DomainUnlinked',
  data: { domain, revision },
});
const note = (domain: string, revision: number, isVerified: boolean) => (state: LinkedDomainState) =>
  recordDomainChange(state, { domain, revision, isVerified });

describe('a linked domain', () => {
  it('is the verified domain, until it is withdrawn', () => {
    given([])
      .when(note('a.example', 1, true))
      .then([linked('a.example', 1)]);
    given([linked('a.example', 1)])
      .when(note('a.example', 2, false))
      .then([unlinked('a.example', 2)]);
    given([linked('a.example', 1), unlinked('a.example', 2)]).thenState({ revision: 2 });
    given([linked('a.example', 1), unlinked('a.example', 2), linked('b.example', 4)]).thenState({
      domain: 'b.example',
      revision: 4,
    });
  });

  it('does not change by events that are redelivered, late, or of another domain', () => {
    given([linked('a.example', 1)])
      .when(note('a.example', 1, true))
      .then([]);
    given([linked('a.example', 1), unlinked('a.example', 2)])
      .when(note('a.example', 1, true))
      .then([]);
    given([linked('a.example', 1), unlinked('a.example', 2), linked('b.example', 4)])
      .when(note('a.example', 5, false))
      .then([]);
    given([])
      .when(note('a.example', 2, false))
      .then([]);
  });

  it("is an additional origin at the tenant's host, and the only one at the custom domain", () => {
    const [own, custom] = ['http://acme.localhost:3000', 'http://brand.example'];
    const state = { domain: 'brand.example', revision: 1 };
    expect(originsAt({ publicUrl: own, baseUrl: own }, { revision: -1 })).toEqual([own]);
    expect(originsAt({ publicUrl: own, baseUrl: own }, state)).toEqual([own, custom]);
    expect(originsAt({ publicUrl: custom, baseUrl: own }, state)).toEqual([custom]);
    // The gateway may know of it earlier.
    expect(originsAt({ publicUrl: custom, baseUrl: own }, { revision: -1 })).toEqual([custom]);
  });
});

describe('an event of the revision that was already processed', () => {
  it('does not change the linked domain', () => {
    given([linked('a.example', 1)])
      .when(note('a.example', 1, false))
      .then([]);
    given([linked('a.example', 1)])
      .when(note('b.example', 1, true))
      .then([]);
  });
});
