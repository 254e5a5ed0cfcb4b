import { decodeJwt, errors, type JWTPayload } from 'jose';

/**
 * Why an access token is refused. Only claims that the caller sent and the audience, which is public, are used, so that the reason
 * never reveals whether a client or key exists or a token was revoked (ADR 0066).
 */
export const reasonOfRefusal = (token: string, audience: string, now: Date): string => {
  const { aud, exp } = claimsOf(token);
  if (aud !== undefined && ![aud].flat().includes(audience))
    return `The access token has another audience; request one for ${audience}`;
  if (typeof exp === 'number' && exp * 1000 <= now.getTime()) return 'The access token has expired';
  return 'The access token is not valid';
};

const claimsOf = (token: string): JWTPayload => {
  try {
    return decodeJwt(token);
  } catch (error) {
    if (error instanceof errors.JOSEError) return {};
    throw error;
  }
};
