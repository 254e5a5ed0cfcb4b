import { oauthError } from '@attestry/contracts';
import { rolesOf } from '../../tenants/tenant/tenant.decisions.js';
import type { TenantState } from '../../tenants/tenant/tenant.state.js';

/** Longest validity of a member's token, seconds. */
export const MEMBER_TOKEN_SECONDS = 300;

export interface MemberTokenFacts {
  /** Seconds since the epoch. */
  now: number;
  /** End of the exchanged token, seconds since the epoch. */
  subjectExpiresAt: number;
  /** A token must not outlive the publication of the key that signs it. */
  maxSeconds: number;
}

/**
 * Validity in seconds of a token for a member of the tenant. It has no roles: they are read at each call.
 * @param state `absent` where no tenant has the audience
 * @throws oauthError `invalid_target` for a user who is not a member, as where there is no tenant; `invalid_request` for a token that has
 * ended
 */
export const memberTokenSeconds = (
  state: TenantState,
  { userId }: { userId: string },
  { now, subjectExpiresAt, maxSeconds }: MemberTokenFacts,
): number => {
  if (state.status !== 'active' || !rolesOf(state, { kind: 'user', userId }))
    throw oauthError('invalid_target', 'audience must be the address of a tenant that the person is a member of', {
      check: 'member-token',
    });
  const seconds = Math.min(MEMBER_TOKEN_SECONDS, maxSeconds, subjectExpiresAt - now);
  if (seconds <= 0) throw oauthError('invalid_request', 'The access token has expired', { check: 'member-token' });
  return seconds;
};
