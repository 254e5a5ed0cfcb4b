import { BUS_PARTICIPANTS, busRights } from '../bus-rights.js';
import {
  WEBHOOK_EVENT_SOURCES,
  webhookEventsOf,
  webhookEventPayload,
  type WebhookEventName,
} from './webhook-events.js';
import { WEBHOOK_EVENTS } from './webhooks.operations.js';

const sources = Object.entries(WEBHOOK_EVENT_SOURCES) as [
  WebhookEventName,
  (typeof WEBHOOK_EVENT_SOURCES)[WebhookEventName],
][];

describe('webhook events', () => {
  it.each(sources)(
    '%s derives from an integration event that a service publishes and webhooks reads',
    (name, { integrationEvent }) => {
      expect(BUS_PARTICIPANTS.flatMap((participant) => busRights(participant).publishes)).toContain(
        integrationEvent.subject,
      );
      expect(busRights('webhooks').consumes.flatMap(({ subjects }) => subjects)).toContain(integrationEvent.subject);
      expect(webhookEventsOf(integrationEvent.subject)).toEqual([name]);
      expect(WEBHOOK_EVENTS).toContain(name);
    },
  );

  it('contain only the declared members', () => {
    const data = { tenantId: 't', did: 'did:web:a', method: 'web', name: 'Ada' };
    expect(webhookEventPayload('DidCreated', data)).toEqual({ did: 'did:web:a', method: 'web' });
    expect(webhookEventsOf('event.nobody.knows')).toEqual([]);
    const payload = webhookEventPayload('CredentialStatusChanged', { tenantId: 't', status: 'valid' });
    expect(Object.keys(payload)).toEqual(['status']);
  });

  // Names of members that would contain input of a person, or identify one.
  it.each(sources)('%s contains no personal value', (_name, { members }) => {
    for (const member of members) expect(member).not.toMatch(/name|mail|claim|subject|address|phone/i);
  });
});
