import { invalidBody } from '@attestry/contracts';
import type { TypeClaimEvent } from './type-claim.events.js';
import type { TypeClaimState } from './type-claim.state.js';

/** A claim whose configuration was not created within this time may be taken over (ADR 0009). */
export const TAKE_OVER_AFTER_MS = 60_000;

export interface ClaimFacts {
  now: Date;
  /** What became of the configuration that holds the claim. */
  ownerStatus: 'absent' | 'active' | 'deleted';
}

const mayTakeOver = (claimedAt: string, { now, ownerStatus }: ClaimFacts): boolean =>
  ownerStatus === 'deleted' ||
  (ownerStatus === 'absent' && now.getTime() - Date.parse(claimedAt) >= TAKE_OVER_AFTER_MS);

export const claimType = (
  state: TypeClaimState,
  command: { owner: string; type: string },
  facts: ClaimFacts,
): TypeClaimEvent[] => {
  if (state.status === 'claimed') {
    if (state.owner === command.owner) return [];
    if (!mayTakeOver(state.claimedAt, facts))
      throw invalidBody('type', 'is used by another credential configuration', command.type);
  }
  return [{ type: 'CredentialTypeClaimed', data: { owner: command.owner, claimedAt: facts.now.toISOString() } }];
};

/** Only its owner gives a claim up. */
export const releaseType = (state: TypeClaimState, owner: string): TypeClaimEvent[] =>
  state.status === 'claimed' && state.owner === owner ? [{ type: 'CredentialTypeReleased', data: { owner } }] : [];
