const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Whether a token is spelled as its issuer spelled it (RFC 7515 §2: base64url without padding). Decoders ignore unused bits, padding and
 * the other alphabet, so that a signature has many spellings; a token must have one.
 */
export const isExactJwt = (token: string): boolean => {
  const parts = token.split('.');
  return (
    parts.length === 3 &&
    parts.every((part) => BASE64URL.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
};
