/**
 * A tenant's name for e-mails and pages of the platform: without control characters, line and paragraph separators, and
 * characters that change the direction of text or show nothing (U+061C, U+200B, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069, and
 * the like). With them a name can reorder or hide what stands beside it. The joiners U+200C and U+200D stay: scripts and emoji need them.
 */
export const shownName = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim() || 'a tenant without a name';
