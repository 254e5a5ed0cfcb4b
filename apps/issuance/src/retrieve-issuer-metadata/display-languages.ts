import { canonicalLanguageTag } from '@attestry/contracts';
import { weightedList } from '../protocol/weighted-list.js';

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
const truncations = (range: string): string[] => {
  const subtags = range.split('-');
  const tried: string[] = [];
  while (subtags.length > 0) {
    if (subtags.at(-1)!.length > 1) tried.push(subtags.join('-'));
    subtags.pop();
  }
  return tried;
};

interface Entry {
  locale?: string;
}
const isDisplay = (name: string, value: unknown): value is Entry[] => name === 'display' && Array.isArray(value);
const languageOf = ({ locale }: Entry): string | undefined => locale?.toLowerCase();

/** Visits every `display` below a value. */
const visitDisplays = (value: unknown, visit: (entries: Entry[]) => void): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value))
    if (isDisplay(name, member)) visit(member);
    else visitDisplays(member, visit);
};

/** With the one entry of each `display` that comes first in `languages`, or all where none does. */
const select = (value: unknown, languages: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((entry) => select(entry, languages));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!isDisplay(name, member)) return [name, select(member, languages)];
      const language = languages.find((wanted) => member.some((entry) => languageOf(entry) === wanted));
      return [name, language === undefined ? member : member.filter((entry) => languageOf(entry) === language)];
    }),
  );
};

type Metadata = Record<string, unknown>;

/** Selections of one document that are kept. */
const MAX_SELECTED = 20;

export interface SelectedMetadata {
  metadata: Metadata;
  /** Of the selected entries, for `Content-Language`; absent where all are returned. */
  contentLanguage?: string;
}

/** Metadata in the languages that callers prefer. */
export class MultilingualMetadata {
  /** As they are written, by lower case. */
  private readonly languages = new Map<string, string>();
  /** By those languages of the metadata that a caller accepts, best first. */
  private readonly selected = new Map<string, SelectedMetadata>();

  constructor(private readonly metadata: Metadata) {
    visitDisplays(metadata, (entries) => {
      for (const { locale } of entries) if (locale !== undefined) this.languages.set(locale.toLowerCase(), locale);
    });
  }

  /** @param acceptLanguage the header */
  select(acceptLanguage: string | undefined): SelectedMetadata {
    if (acceptLanguage === undefined || this.languages.size === 0) return { metadata: this.metadata };
    const candidates = languageRanges(acceptLanguage).flatMap(truncations);
    const wanted = [...new Set(candidates)].filter((language) => this.languages.has(language));
    if (wanted.length === 0) return { metadata: this.metadata };
    const key = wanted.join();
    const known = this.selected.get(key);
    if (known) return known;
    const made = this.make(wanted);
    // Callers choose the combinations.
    if (this.selected.size >= MAX_SELECTED) this.selected.clear();
    this.selected.set(key, made);
    return made;
  }

  private make(wanted: readonly string[]): SelectedMetadata {
    const metadata = select(this.metadata, wanted) as Metadata;
    const used = new Set<string>();
    visitDisplays(metadata, (entries) => {
      const [first] = entries;
      if (entries.length === 1 && first?.locale !== undefined && wanted.includes(first.locale.toLowerCase()))
        used.add(first.locale);
    });
    return { metadata, contentLanguage: [...used].join(', ') };
  }
}
