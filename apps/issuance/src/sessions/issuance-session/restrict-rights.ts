import type { RedeemedSession } from './issuance-session.state.js';

/** The session with those of its rights alone that a token covers, by their index. */
export const restrictRights = (session: RedeemedSession, covered: readonly number[] | undefined): RedeemedSession => {
  if (!covered) return session;
  const { authorizationDetails: details, entries } = session;
  return details
    ? { ...session, authorizationDetails: details.filter((_, index) => covered.includes(index)) }
    : { ...session, entries: entries.filter((_, index) => covered.includes(index)) };
};
