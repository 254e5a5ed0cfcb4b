import { oauthError } from '@attestry/contracts';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';

/** The code of a request that an attested wallet pushed is exchanged by the same instance (HAIP 1.0 §4.4.1). @throws AppError 400 */
export const checkAttestedKey = (state: IssuanceSessionState, instanceJkt: string | undefined): void => {
  const origin = 'origin' in state && state.origin.kind === 'authorizationRequest' ? state.origin : undefined;
  if (origin?.instanceJkt !== undefined && origin.instanceJkt !== instanceJkt)
    throw oauthError('invalid_grant', 'the code was issued to another instance of the wallet', {
      check: 'check-attested-key',
    });
};
