import type { Aggregate } from '@attestry/event-store';
import type { RevokedTokenEvent } from './revoked-token.events.js';

export type RevokedTokenState = { status: 'absent' } | { status: 'revoked' };

/** @param tokenId `jti` of a token whose signature was verified */
export const revokedTokenStream = (tokenId: string): string => `revokedToken-${tokenId}`;

const evolve = (_state: RevokedTokenState, event: RevokedTokenEvent): RevokedTokenState => {
  switch (event.type) {
    case 'TokenRevoked':
      return { status: 'revoked' };
  }
};

export const revokedToken: Aggregate<RevokedTokenState, RevokedTokenEvent> = {
  category: 'revokedToken',
  initial: { status: 'absent' },
  types: { TokenRevoked: 1 },
  evolve,
};
