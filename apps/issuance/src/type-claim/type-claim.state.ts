import type { CredentialFormat } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { TypeClaimEvent } from './type-claim.events.js';

export type TypeClaimState = { status: 'free' } | { status: 'claimed'; owner: string; claimedAt: string };

export const typeClaimStream = (tenantId: string, format: CredentialFormat, type: string): string =>
  `credentialType-${tenantId}+${format}+${type}`;

const evolve = (_state: TypeClaimState, event: TypeClaimEvent): TypeClaimState => {
  switch (event.type) {
    case 'CredentialTypeClaimed':
      return { status: 'claimed', owner: event.data.owner, claimedAt: event.data.claimedAt };
    case 'CredentialTypeReleased':
      return { status: 'free' };
  }
};

export const typeClaim: Aggregate<TypeClaimState, TypeClaimEvent> = {
  category: 'credentialType',
  initial: { status: 'free' },
  types: { CredentialTypeClaimed: 1, CredentialTypeReleased: 1 },
  evolve,
};
