import { AppError } from '@attestry/contracts';
import { given as givenOf } from '@attestry/event-store';
import { acceptedDomain } from './custom-domain-rules.js';
import {
  createCustomDomain,
  deleteCustomDomain,
  displaceVerified,
  endWithTenant,
  tokenFault,
  updateCustomDomain,
  verifyCustomDomain,
  withdrawVerification,
} from './custom-domain.decisions.js';
import type { CustomDomainEvent } from './custom-domain.events.js';
import { customDomain, customDomainStream, type CustomDomainState } from './custom-domain.state.js';

const now = '2026-03-01T10:00:00.000Z';
const request = { name: 'Acme', logoUrl: 'https://acme.example/logo.png', domain: 'acme.example' };
const created: CustomDomainEvent = {
  type: 'CustomDomainCreated',
  data: { ...request, verificationToken: 't1', createdAt: now },
};
const verified: CustomDomainEvent = {
  type: 'CustomDomainVerified',
  data: { domain: 'acme.example', verificationToken: 't1', verifiedAt: now },
};
const replaced = (wasVerified: boolean): CustomDomainEvent => ({
  type: 'CustomDomainReplaced',
  data: { domain: 'new.example', verificationToken: 't2', replaced: { domain: 'acme.example', wasVerified } },
});
const deleted = (wasVerified: boolean, domain = 'acme.example'): CustomDomainEvent => ({
  type: 'CustomDomainDeleted',
  data: { domain, wasVerified },
});
const proven = { domain: 'acme.example', verificationToken: 't1' };

const given = (events: CustomDomainEvent[]) => givenOf<CustomDomainState, CustomDomainEvent>(customDomain, events);

describe('a custom domain', () => {
  it('is created once, and again after it was deleted', () => {
    const create = (state: Parameters<typeof createCustomDomain>[0]) =>
      createCustomDomain(state, request, { verificationToken: 't1', now });
    given([]).when(create).then([created]);
    given([created]).when(create).thenThrows('BadRequest');
    given([created, deleted(false)])
      .when(create)
      .then([created]);
    given([created]).thenState({ status: 'configured', ...request, verificationToken: 't1' });
  });

  it('keeps its verification when only name and logo change', () => {
    const brand = { name: 'Acme & Sons', logoUrl: 'https://acme.example/new.png' };
    given([created, verified])
      .when((state) => updateCustomDomain(state, { ...request, ...brand }, { verificationToken: 't2' }))
      .then([{ type: 'CustomDomainBrandChanged', data: brand }]);
    given([created, verified, { type: 'CustomDomainBrandChanged', data: brand }]).thenState({
      status: 'configured',
      ...request,
      ...brand,
      verificationToken: 't1',
      verifiedAt: now,
    });
    given([created, verified])
      .when((state) => updateCustomDomain(state, request, { verificationToken: 't2' }))
      .then([]);
  });

  it('loses it with another domain, which gets a new token', () => {
    const update = (state: Parameters<typeof updateCustomDomain>[0]) =>
      updateCustomDomain(state, { ...request, domain: 'new.example' }, { verificationToken: 't2' });
    given([created])
      .when(update)
      .then([replaced(false)]);
    given([created, verified])
      .when(update)
      .then([replaced(true)]);
    given([created, verified, replaced(true)]).thenState({
      status: 'configured',
      ...request,
      domain: 'new.example',
      verificationToken: 't2',
      verifiedAt: undefined,
    });
  });

  it('is verified once, for the proven domain', () => {
    const verify = (state: Parameters<typeof verifyCustomDomain>[0]) => verifyCustomDomain(state, proven, { now });
    given([created]).when(verify).then([verified]);
    given([created, verified]).when(verify).then([]);
    given([created, replaced(false)])
      .when(verify)
      .thenThrows('BadRequest');
    given([created, deleted(false), { ...created, data: { ...created.data, verificationToken: 't3' } }])
      .when(verify)
      .thenThrows('BadRequest');
  });

  it('gives up a verification whose claim was lost, and only that', () => {
    const withdraw = (state: Parameters<typeof withdrawVerification>[0]) => withdrawVerification(state, proven);
    const withdrawn: CustomDomainEvent = {
      type: 'CustomDomainVerificationWithdrawn',
      data: { domain: 'acme.example' },
    };
    given([created, verified]).when(withdraw).then([withdrawn]);
    given([created, verified, withdrawn]).when(withdraw).then([]);
    given([created, verified, replaced(true)])
      .when(withdraw)
      .then([]);
    given([]).when(withdraw).then([]);
  });

  it('is deleted when another tenant takes over the verified domain', () => {
    const displace = (state: Parameters<typeof displaceVerified>[0]) => displaceVerified(state, proven);
    given([created, verified])
      .when(displace)
      .then([deleted(true)]);
    for (const events of [
      [],
      [created],
      [created, verified, replaced(true)],
      [created, verified, deleted(true)],
      [created, verified, deleted(true), { ...created, data: { ...created.data, verificationToken: 't3' } }],
    ])
      given(events).when(displace).then([]);
  });

  it('records at its deletion whether it was verified', () => {
    given([created])
      .when(deleteCustomDomain)
      .then([deleted(false)]);
    given([created, verified])
      .when(deleteCustomDomain)
      .then([deleted(true)]);
    given([created, verified, replaced(true)])
      .when(deleteCustomDomain)
      .then([deleted(false, 'new.example')]);
    given([created, verified])
      .when(endWithTenant)
      .then([deleted(true)]);
    given([]).when(endWithTenant).then([]);
  });

  it('is a 404 when there is none', () => {
    for (const events of [[], [created, deleted(false)]]) {
      given(events).when(deleteCustomDomain).thenThrows('NotFound');
      given(events)
        .when((state) => updateCustomDomain(state, request, { verificationToken: 't2' }))
        .thenThrows('NotFound');
      given(events)
        .when((state) => verifyCustomDomain(state, proven, { now }))
        .thenThrows('NotFound');
    }
  });

  it('has one stream per tenant', () => expect(customDomainStream('t')).toBe('customDomain-t'));
});

describe('the rules of a custom domain', () => {
  const platform = ['issue.example.org', 'login.example.com'];
  const faults = (changed: Partial<typeof request>) => {
    try {
      acceptedDomain({ ...request, ...changed }, platform);
    } catch (error) {
      return (error as AppError).details!.map(({ param, msg }) => `${param} ${msg}`);
    }
    return [];
  };

  it.each([
    'acme.example',
    'ACME.example',
    'a.b.c.acme.example',
    'xn--cme-qla.example',
    '1.acme.example',
    'a--b.example',
    // Beside the platform, not below it.
    'example.org',
    'myissue.example.org',
    `${'a'.repeat(63)}.example`,
  ])('accept %s', (domain) => {
    expect(faults({ domain })).toEqual([]);
    expect(acceptedDomain({ ...request, domain }, platform).domain).toBe(domain.toLowerCase());
  });

  const name = 'must be a host name (write internationalized names in their xn-- form)';
  it.each([
    ['https://acme.example', 'must be a host name without scheme and path'],
    ['acme.example/path', 'must be a host name without scheme and path'],
    ['user@acme.example', 'must be a host name without scheme and path'],
    ['acme.example:443', 'must be a host name without port'],
    ['acme', 'must have at least one dot'],
    ['localhost', 'must have at least one dot'],
    ['127.0.0.1', 'must not be an IP address'],
    ['1.2.3.0x7f', 'must not be an IP address'],
    ['[::1]', 'must be a host name without port'],
    ['acme.example.', name],
    ['-acme.example', name],
    ['acme..example', name],
    ['ac_me.example', name],
    ['äcme.example', name],
    [' acme.example', name],
    ['', name],
    [`${'a'.repeat(64)}.example`, name],
    [`${'a.'.repeat(124)}example`, name],
    [
      'issue.example.org',
      'must not be a domain of the platform: issue.example.org and all names below it are reserved',
    ],
    [
      'other.Issue.example.org',
      'must not be a domain of the platform: issue.example.org and all names below it are reserved',
    ],
    [
      'login.example.com',
      'must not be a domain of the platform: login.example.com and all names below it are reserved',
    ],
  ])('refuse the domain %s', (domain, msg) => expect(faults({ domain })).toEqual([`domain ${msg}`]));

  it.each([
    ['logo.png', 'must be a valid URL'],
    ['http://acme.example/logo.png', 'must use https'],
    ['javascript:alert(1)', 'must use https'],
    ['data:image/png;base64,AA==', 'must use https'],
    ['https://user:word@acme.example/logo.png', 'must not contain credentials'],
    ['https://localhost/logo.png', 'must have a public host name'],
  ])('refuse the logo %s', (logoUrl, msg) => expect(faults({ logoUrl })).toEqual([`logoUrl ${msg}`]));

  it('report all faults at once, without a password', () => {
    expect(faults({ domain: '', logoUrl: '' })).toHaveLength(2);
    expect(() => acceptedDomain({ ...request, logoUrl: 'ftp://u:word@a.example' }, platform)).toThrow(
      expect.objectContaining({ details: [{ msg: 'must use https', param: 'logoUrl', location: 'body' }] }),
    );
  });
});

describe('a change of a custom domain', () => {
  const stateOf = (events: CustomDomainEvent[]) => events.reduce(customDomain.evolve, customDomain.initial);
  const facts = { verificationToken: 't2', now };

  it.each([{ name: 'Acme & Sons' }, { logoUrl: 'https://acme.example/new.png' }])(
    'is one event when only %j is changed',
    (change) => {
      const brand = { name: request.name, logoUrl: request.logoUrl, ...change };
      expect(updateCustomDomain(stateOf([created]), { ...request, ...change }, facts)).toEqual([
        { type: 'CustomDomainBrandChanged', data: brand },
      ]);
    },
  );

  it('names the domain and the reason when it is refused', () => {
    expect(() => createCustomDomain(stateOf([created]), request, facts)).toThrow(
      expect.objectContaining({
        details: [
          { param: 'domain', location: 'body', msg: 'the tenant already has a custom domain; update or delete it' },
        ],
      }),
    );
    expect(() =>
      verifyCustomDomain(stateOf([created]), { domain: 'acme.example', verificationToken: 'old' }, facts),
    ).toThrow(
      expect.objectContaining({
        message: 'Verification failed',
        details: [
          {
            value: 'acme.example',
            msg: 'the custom domain was changed during the verification',
            param: 'domain',
            location: 'body',
          },
        ],
      }),
    );
  });

  it('is refused with what is wrong with the TXT records, without their values [T626]', () => {
    expect(tokenFault([], 't1')).toMatch(/^the domain has no TXT record; publish one/);
    for (const values of [[''], ['t2'], ['t1 '], ['v=spf1 -all', '"t1"']])
      expect(tokenFault(values, 't1')).toBe(
        'the domain has TXT records, but none whose whole value is verificationToken',
      );
    expect(tokenFault(['v=spf1 -all', 't1'], 't1')).toBeUndefined();
  });

  it('loses a verification only with the token that verified it', () => {
    const lost = { verificationToken: 't1' };
    for (const state of [stateOf([]), stateOf([created]), stateOf([created, verified, deleted(true)])]) {
      expect(withdrawVerification(state, lost)).toEqual([]);
      expect(displaceVerified(state, lost)).toEqual([]);
    }
    for (const decide of [withdrawVerification, displaceVerified]) {
      expect(decide(stateOf([created, verified]), { verificationToken: 'other' })).toEqual([]);
      expect(decide(stateOf([created, verified]), lost)).toHaveLength(1);
    }
  });
});
