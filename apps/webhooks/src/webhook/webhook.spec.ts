import { given, stateAfter } from '@attestry/event-store';
import { acceptedUrl, createWebhook, deleteWebhook, enabled, updateWebhook } from './webhook.decisions.js';
import type { WebhookDomainEvent } from './webhook.events.js';
import { webhook, type WebhookState } from './webhook.state.js';

const now = '2026-01-02T03:04:05.000Z';
const created: WebhookDomainEvent = {
  type: 'WebhookCreated',
  data: { webhookId: 'w1', url: 'https://a.com/', events: ['OpenIdCredentialIssued'], disabled: false, createdAt: now },
};
const disabled: WebhookDomainEvent = {
  type: 'WebhookDisabled',
  data: { webhookId: 'w1', events: ['OpenIdCredentialIssued'] },
};
const deleted: WebhookDomainEvent = { type: 'WebhookDeleted', data: { webhookId: 'w1' } };
const same = { url: 'https://a.com/', events: ['OpenIdCredentialIssued' as const] };

describe('webhook', () => {
  it('is created enabled by default, once', () => {
    const command = { webhookId: 'w1', ...same };
    given<WebhookState, WebhookDomainEvent>(webhook, [])
      .when((state) => createWebhook(state, command, { now }))
      .then([created]);
    given<WebhookState, WebhookDomainEvent>(webhook, [])
      .when((state) => createWebhook(state, { ...command, disabled: true }, { now }))
      .thenState({ status: 'active', ...created.data, disabled: true } as never);
    given<WebhookState, WebhookDomainEvent>(webhook, [created])
      .when((state) => createWebhook(state, command, { now }))
      .then([]);
  });

  it('refuses a forbidden target', () => {
    expect(() => acceptedUrl('http://a', { fault: 'must use https' })).toThrow(
      expect.objectContaining({
        code: 'BadRequest',
        details: [{ value: 'http://a', msg: 'must use https', param: 'url', location: 'body' }],
      }),
    );
    expect(acceptedUrl('https://ä.de', { url: 'https://xn--4ca.de/' })).toBe('https://xn--4ca.de/');
  });

  it('has an event for each change of an update', () => {
    given<WebhookState, WebhookDomainEvent>(webhook, [created])
      .when((state) => updateWebhook(state, same))
      .then([]);
    given<WebhookState, WebhookDomainEvent>(webhook, [created])
      .when((state) =>
        updateWebhook(state, { url: 'https://b.com/', events: ['OpenIdCredentialIssuedSummary'], disabled: true }),
      )
      .then([
        { type: 'WebhookUrlChanged', data: { webhookId: 'w1', url: 'https://b.com/' } },
        {
          type: 'WebhookEventsChanged',
          data: { webhookId: 'w1', events: ['OpenIdCredentialIssuedSummary'], disabled: false },
        },
        { type: 'WebhookDisabled', data: { webhookId: 'w1', events: ['OpenIdCredentialIssuedSummary'] } },
      ]);
  });

  it('keeps `disabled` when an update does not name it, and enables when requested', () => {
    given<WebhookState, WebhookDomainEvent>(webhook, [created, disabled])
      .when((state) => updateWebhook(state, same))
      .then([]);
    given<WebhookState, WebhookDomainEvent>(webhook, [created, disabled])
      .when((state) => updateWebhook(state, { ...same, disabled: false }))
      .then([{ type: 'WebhookEnabled', data: { webhookId: 'w1', events: ['OpenIdCredentialIssued'] } }]);
  });

  it('accepts test events while it is enabled', () => {
    expect(enabled(stateAfter(webhook, [created])).webhookId).toBe('w1');
    const code = (value: string) => expect.objectContaining({ code: value }) as Error;
    expect(() => enabled(stateAfter(webhook, [created, disabled]))).toThrow(code('Conflict'));
    for (const events of [[], [created, disabled, deleted]])
      expect(() => enabled(stateAfter<WebhookState, WebhookDomainEvent>(webhook, events))).toThrow(code('NotFound'));
  });

  it('does not exist before its creation and after its deletion', () => {
    given<WebhookState, WebhookDomainEvent>(webhook, [created]).when(deleteWebhook).then([deleted]);
    for (const events of [[], [created, deleted]]) {
      given<WebhookState, WebhookDomainEvent>(webhook, events).when(deleteWebhook).thenThrows('NotFound');
      given<WebhookState, WebhookDomainEvent>(webhook, events)
        .when((state) => updateWebhook(state, same))
        .thenThrows('NotFound');
    }
  });
});

describe('the events of a webhook', () => {
  const both: WebhookDomainEvent = {
    type: 'WebhookCreated',
    data: { ...created.data, events: ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] } as never,
  };
  const update = (events: Parameters<typeof updateWebhook>[1]['events']) =>
    updateWebhook(stateAfter(webhook, [both]), { url: 'https://a.com/', events });

  it('change when one of them is removed or replaced', () => {
    expect(update(['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'])).toEqual([]);
    for (const events of [
      ['OpenIdCredentialIssued' as const],
      ['OpenIdCredentialIssued' as const, 'OpenIdCredentialIssued' as const],
    ])
      expect(update(events)).toEqual([
        { type: 'WebhookEventsChanged', data: { webhookId: 'w1', events, disabled: false } },
      ]);
  });

  it('are not sent on demand while it is disabled, with the reason', () =>
    expect(() => enabled(stateAfter(webhook, [created, disabled]))).toThrow('The webhook is disabled'));
});
