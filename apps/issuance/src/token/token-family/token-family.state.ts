import type { Aggregate } from '@attestry/event-store';
import type { TokenFamilyData, TokenFamilyEvent } from './token-family.events.js';

export type TokenFamilyState =
  | { status: 'absent' }
  /** Access tokens hold the epoch that they were made in: those of an earlier one have ended. */
  | ({ status: 'active'; epoch: number } & Omit<TokenFamilyData, 'beganAt'>)
  | { status: 'ended'; epoch: number; familyId: string; sessionId: string };

export type ActiveFamily = Extract<TokenFamilyState, { status: 'active' }>;

export const tokenFamilyStream = (tenantId: string, familyId: string): string => `tokenFamily-${tenantId}+${familyId}`;

const evolve = (state: TokenFamilyState, event: TokenFamilyEvent): TokenFamilyState => {
  switch (event.type) {
    case 'TokenFamilyBegan': {
      const { beganAt: _, ...family } = event.data;
      return { status: 'active', epoch: 1, ...family };
    }
    case 'TokenFamilyEnded': {
      const { familyId, sessionId } = event.data;
      return state.status === 'active' ? { status: 'ended', epoch: state.epoch + 1, familyId, sessionId } : state;
    }
  }
};

export const tokenFamily: Aggregate<TokenFamilyState, TokenFamilyEvent> = {
  category: 'tokenFamily',
  initial: { status: 'absent' },
  types: { TokenFamilyBegan: 1, TokenFamilyEnded: 1 },
  evolve,
};
