/** Characters of a language tag: RFC 5646 §4.4.1 requires room for 35. */
export const MAX_LANGUAGE_TAG = 35;
export const LANGUAGE_TAG_FAULT = 'must be a language tag such as en or de-CH (BCP 47)';

/** The tag in its canonical form, `de-CH` for `DE-ch`; `undefined` where it is not well-formed (BCP 47). */
export const canonicalLanguageTag = (tag: string): string | undefined => {
  if (tag.length > MAX_LANGUAGE_TAG) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
};
