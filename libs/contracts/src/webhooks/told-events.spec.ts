import { BUS_PARTIES, busRights } from '../bus-rights.js';
import { TOLD_EVENTS, toldBy, toldPayload, type ToldEventName } from './told-events.js';
import { WEBHOOK_EVENTS } from './webhooks.operations.js';

const told = Object.entries(TOLD_EVENTS) as [ToldEventName, (typeof TOLD_EVENTS)[ToldEventName]][];

describe('webhook events', () => {
  it.each(told)('%s derives from an integration event that a service publishes and webhooks reads', (name, { of }) => {
    expect(BUS_PARTIES.flatMap((party) => busRights(party).publishes)).toContain(of.subject);
    expect(busRights('webhooks').consumes.flatMap(({ subjects }) => subjects)).toContain(of.subject);
    expect(toldBy(of.subject)).toEqual([name]);
    expect(WEBHOOK_EVENTS).toContain(name);
  });

  it('have the members that are named and no others', () => {
    const data = { tenantId: 't', did: 'did:web:a', method: 'web', name: 'Ada' };
    expect(toldPayload('DidCreated', data)).toEqual({ did: 'did:web:a', method: 'web' });
    expect(toldBy('event.nobody.knows')).toEqual([]);
  });

  // Names that would hold what a person typed, or say whose it is.
  it.each(told)('%s holds no personal value', (_name, { members }) => {
    for (const member of members) expect(member).not.toMatch(/name|mail|claim|subject|address|phone/i);
  });
});
