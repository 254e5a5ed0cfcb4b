import {
  languageOf,
  languageRanges,
  truncations,
  type Localized,
} from '../../reading/preferred-languages/preferred-languages.js';

const isDisplay = (name: string, value: unknown): value is Localized[] => name === 'display' && Array.isArray(value);

/** Visits every `display` below a value. */
const visitDisplays = (value: unknown, visit: (entries: Localized[]) => void): void => {
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
  /** Languages of the selected entries, for `Content-Language`; absent where all are returned. */
  contentLanguage?: string;
}

/** Metadata in the languages that callers prefer. */
export class MultilingualMetadata {
  /** Written form of each language, by lower case. */
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
