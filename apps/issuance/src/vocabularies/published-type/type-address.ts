/** Segments that addresses lose when they are parsed, also in percent-encoding (RFC 3986 §5.2.4). */
const DOT_SEGMENTS: ReadonlySet<string> = new Set(['.', '..']);

/** The gateway routes parameters of paths up to twice this length. */
const MAX_SEGMENT = 1024;

/** Begin of the addresses of all versions of a type; a version follows. */
export const typeAddress = (baseUrl: string, type: string): string =>
  `${typesAddress(baseUrl)}${encodeURIComponent(type)}/`;

/** Begin of the addresses of all types of a tenant. */
export const typesAddress = (baseUrl: string): string => `${baseUrl}/v1/openid/types/`;

/** Why a type can have no address. */
export const typeAddressFault = (type: string): string | undefined => {
  if (DOT_SEGMENTS.has(type)) return 'must not be . or .. where no vct is given';
  return encodeURIComponent(type).length > MAX_SEGMENT
    ? `must have at most ${MAX_SEGMENT} characters in percent-encoding where no vct is given`
    : undefined;
};
