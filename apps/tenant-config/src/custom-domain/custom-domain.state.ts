import type { Aggregate } from '@attestry/event-store';
import type { CustomDomainEvent } from './custom-domain.events.js';

export interface ConfiguredDomain {
  status: 'configured';
  name: string;
  logoUrl: string;
  domain: string;
  verificationToken: string;
  /** Absent until verified. */
  verifiedAt?: string;
}
export type CustomDomainState = { status: 'absent' } | ConfiguredDomain;

/** One stream per tenant: its expected revision ensures at most one custom domain. */
export const customDomainStream = (tenantId: string): string => `customDomain-${tenantId}`;

const change = (state: CustomDomainState, changed: Partial<ConfiguredDomain>): CustomDomainState =>
  state.status === 'configured' ? { ...state, ...changed } : state;

const evolve = (state: CustomDomainState, event: CustomDomainEvent): CustomDomainState => {
  switch (event.type) {
    case 'CustomDomainCreated': {
      const { name, logoUrl, domain, verificationToken } = event.data;
      return { status: 'configured', name, logoUrl, domain, verificationToken };
    }
    case 'CustomDomainBrandChanged':
      return change(state, event.data);
    case 'CustomDomainReplaced': {
      const { domain, verificationToken } = event.data;
      return change(state, { domain, verificationToken, verifiedAt: undefined });
    }
    case 'CustomDomainVerified':
      return change(state, { verifiedAt: event.data.verifiedAt });
    case 'CustomDomainVerificationWithdrawn':
      return change(state, { verifiedAt: undefined });
    case 'CustomDomainDeleted':
      return { status: 'absent' };
  }
};

export const customDomain: Aggregate<CustomDomainState, CustomDomainEvent> = {
  category: 'customDomain',
  initial: { status: 'absent' },
  types: {
    CustomDomainCreated: 1,
    CustomDomainBrandChanged: 1,
    CustomDomainReplaced: 1,
    CustomDomainVerified: 1,
    CustomDomainVerificationWithdrawn: 1,
    CustomDomainDeleted: 1,
  },
  evolve,
};
