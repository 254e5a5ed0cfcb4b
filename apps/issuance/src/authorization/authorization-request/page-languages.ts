import { canonicalLanguageTag, type RawRequest } from '@attestry/contracts';
import {
  languageOf,
  languageRanges,
  truncations,
  type Localized,
} from '../../reading/preferred-languages/preferred-languages.js';
import { CONSENT_TEXTS, type PageLanguage } from './consent-texts.js';

/** Languages of `ui_locales` that are read; the sender chooses their number. */
const MAX_UI_LOCALES = 20;

export interface PageLanguages {
  /** Language tags in lower case, best first, each with the shorter ones that lookup tries. */
  preferred: readonly string[];
  /** Language of the page's own texts. */
  language: PageLanguage;
}

/** `ui_locales` (OpenID Connect Core 1.0 §3.1.2.1), then `Accept-Language`, else English. */
export const pageLanguagesOf = (parameters: URLSearchParams, headers: RawRequest['headers']): PageLanguages => {
  const wished = (parameters.get('ui_locales') ?? '').split(' ', MAX_UI_LOCALES);
  const ranges = [
    ...wished.flatMap((tag) => canonicalLanguageTag(tag)?.toLowerCase() ?? []),
    ...languageRanges(headers['accept-language'] ?? ''),
  ];
  const preferred = [...new Set(ranges.flatMap(truncations))];
  return { preferred, language: preferred.find(isPageLanguage) ?? 'en' };
};

const isPageLanguage = (tag: string): tag is PageLanguage => Object.hasOwn(CONSENT_TEXTS, tag);

/** The entry in the best language, else that of the page, the one without a language, or the first. */
export const bestEntry = <Entry extends Localized>(
  entries: readonly [Entry, ...Entry[]],
  { preferred, language }: PageLanguages,
): Entry => {
  for (const wanted of [...preferred, language, undefined]) {
    const found = entries.find((entry) => languageOf(entry) === wanted);
    if (found) return found;
  }
  return entries[0];
};
