/** `If-None-Match`, by the weak comparison (RFC 9110 §13.1.2): whether the client has the representation with this entity tag. */
export const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((value) => {
    const tag = value.trim();
    return tag === '*' || tag.replace(/^W\//, '') === etag;
  }) ?? false;
