import { oauthError, type RawRequest } from '@attestry/contracts';

/**
 * RFC 9449 §10.1: a proof binds the code to its key as `dpop_jkt` does. Refused like that parameter: a wallet that requests a binding must
 * not get a token without it (ADR 0039).
 */
export const checkDpop = (request: RawRequest): void => {
  if (request.headers['dpop'] !== undefined)
    throw oauthError('invalid_request', 'DPoP is not supported', { check: 'check-dpop' });
};
