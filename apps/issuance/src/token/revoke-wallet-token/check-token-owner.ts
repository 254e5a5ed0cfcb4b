import { oauthError } from '@attestry/contracts';
import type { SessionOrigin } from '../../sessions/issuance-session/issuance-session.events.js';

/** RFC 7009 §2.1: the client that the token was issued to. A pre-authorized code is exchanged by any client (OID4VCI §6.1). @throws AppError 400 */
export const checkTokenOwner = (origin: SessionOrigin, clientId: string | undefined): void => {
  if (origin.kind !== 'authorizationRequest') return;
  if (clientId === undefined)
    throw oauthError('invalid_request', 'client_id is missing', { check: 'check-token-owner' });
  if (origin.clientId !== clientId)
    throw oauthError('invalid_grant', 'the token was issued to another client', { check: 'check-token-owner' });
};
