import { canonicalLanguageTag } from '@attestry/contracts';
import { weightedList } from '@attestry/service-kit';

/**
 * Language ranges of `Accept-Language` in lower case, best first (RFC 9110 §12.5.4). `*` is left out, because it selects the default, and so
 * is what cannot be read.
 */
export const languageRanges = (header: string): string[] =>
  weightedList(header)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .flatMap(({ value }) => canonicalLanguageTag(value)?.toLowerCase() ?? []);

/** The range, then each shorter one that lookup tries; none ends in a subtag of one character (RFC 4647 §3.4). */
export const truncations = (range: string): string[] => {
  const subtags = range.split('-');
  const tried: string[] = [];
  while (subtags.length > 0) {
    if (subtags.at(-1)!.length > 1) tried.push(subtags.join('-'));
    subtags.pop();
  }
  return tried;
};

export interface Localized {
  locale?: string;
}
/** In lower case, as it is compared. */
export const languageOf = ({ locale }: Localized): string | undefined => locale?.toLowerCase();
