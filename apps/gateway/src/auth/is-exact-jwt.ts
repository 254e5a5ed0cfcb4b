const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Whether a token is written as its issuer wrote it (RFC 7515 §2: base64url without padding). Decoders pass over unused bits, padding and
 * the other alphabet, so that a signature has many spellings; a token has one.
 */
export const isExactJwt = (token: string): boolean => {
  const parts = token.split('.');
  return (
    parts.length === 3 &&
    parts.every((part) => BASE64URL.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
};
