import type { FamilyEnd, TokenFamilyData, TokenFamilyEvent } from './token-family.events.js';
import type { TokenFamilyState } from './token-family.state.js';

export const beginFamily = (
  state: TokenFamilyState,
  family: Omit<TokenFamilyData, 'beganAt'>,
  now: Date,
): TokenFamilyEvent[] => {
  if (state.status !== 'absent') throw new Error(`token family ${family.familyId} exists already`);
  return [{ type: 'TokenFamilyBegan', data: { ...family, beganAt: now.toISOString() } }];
};

/** Nothing for a family that ended before. */
export const endFamily = (state: TokenFamilyState, reason: FamilyEnd, now: Date): TokenFamilyEvent[] => {
  if (state.status !== 'active') return [];
  const { familyId, sessionId } = state;
  return [{ type: 'TokenFamilyEnded', data: { familyId, sessionId, reason, endedAt: now.toISOString() } }];
};
