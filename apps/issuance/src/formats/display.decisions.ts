import {
  canonicalLanguageTag,
  hasUserInformation,
  IMAGE_URL_PATTERN,
  MAX_DISPLAY_ENTRIES,
  type ClaimDisplay,
  type ClaimMapping,
  type CredentialBranding,
  type Display,
  type CredentialIssuer,
  type ErrorDetail,
} from '@attestry/contracts';

/** Entry that a configuration without `display` has. */
export type DisplayDefaults = Omit<Display, 'locale'> & { name: string };

/** Members that wallets display of a configuration without `display`. */
export const displayDefaults = ({
  name,
  description,
  issuer,
  credentialBranding: branding,
}: {
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  credentialBranding?: CredentialBranding;
}): DisplayDefaults => ({
  name,
  ...(issuer.logoUrl !== undefined && { logo: { uri: issuer.logoUrl, alt_text: issuer.name } }),
  ...(description !== undefined && { description }),
  ...(branding?.backgroundColor !== undefined && { background_color: branding.backgroundColor }),
  ...(branding?.watermarkImageUrl !== undefined && { background_image: { uri: branding.watermarkImageUrl } }),
});

type PublishedDisplay = DisplayDefaults & Pick<Display, 'locale'>;

/** Characters of `display` as JSON: entries without images of their own repeat those of the configuration. */
const MAX_DISPLAY_LENGTH = 262_144;

/** Fault of the address of an image, which metadata and credentials publish. */
export const imageUrlFault = (url: string | undefined): string | undefined => {
  if (url === undefined) return undefined;
  if (!isHttpsOrDataUrl(url)) return 'must be an https URL or a data URL of an image';
  return hasUserInformation(url) ? 'must not contain credentials' : undefined;
};

const isHttpsOrDataUrl = (url: string): boolean =>
  IMAGE_URL_PATTERN.test(url) && (/^data:/i.test(url) || URL.canParse(url));

const canonical = <T extends { locale?: string }>(entry: T): T => {
  const locale = entry.locale === undefined ? undefined : canonicalLanguageTag(entry.locale);
  return locale === undefined ? entry : { ...entry, locale };
};

/** `display` of `credential_metadata` (OID4VCI 1.0 §12.2.4): what an entry has wins member by member. */
export const displayOf = (entries: readonly Display[] | undefined, defaults: DisplayDefaults): PublishedDisplay[] =>
  entries?.map((entry) => ({ ...defaults, ...canonical(entry) })) ?? [defaults];

/** Members of a claims description beside its path (OID4VCI 1.0 Appendix B.2). */
export const claimOf = ({ required, display }: ClaimMapping): { mandatory: boolean; display?: ClaimDisplay[] } => ({
  mandatory: required === true,
  ...(display && { display: display.map(canonical) }),
});

/** The first entry whose language another one has, with its fault. */
const repeatedLocale = (entries: readonly { locale?: string }[]): [index: number, msg: string] | undefined => {
  const known = new Set<string | undefined>();
  for (const [index, { locale }] of entries.entries()) {
    const tag = locale === undefined ? undefined : canonicalLanguageTag(locale);
    if (known.has(tag))
      return [index, tag === undefined ? 'is required: another entry has none' : 'must not repeat a language'];
    known.add(tag);
  }
  return undefined;
};

/** Faults of `display`, whose entries have the declared shape. */
export const displayFaults = (entries: readonly Display[] | undefined, defaults: DisplayDefaults): ErrorDetail[] => {
  if (!entries) return [];
  const fault = (param: string, msg: string): ErrorDetail => ({ msg, param: `display${param}`, location: 'body' });
  const imageFaults = (param: string, image: { uri: string } | undefined): ErrorDetail[] => {
    const msg = imageUrlFault(image?.uri);
    return msg ? [fault(param, msg)] : [];
  };
  const details = entries.flatMap(({ logo, background_image: image }, index) => [
    ...imageFaults(`.${index}.logo.uri`, logo),
    ...imageFaults(`.${index}.background_image.uri`, image),
  ]);
  const repeated = repeatedLocale(entries);
  if (repeated) details.push(fault(`.${repeated[0]}.locale`, repeated[1]));
  if (JSON.stringify(displayOf(entries, defaults)).length > MAX_DISPLAY_LENGTH)
    details.push(
      fault(
        '',
        `must be at most ${MAX_DISPLAY_LENGTH} characters of JSON, with the images of the configuration in each entry that has none`,
      ),
    );
  return details;
};

/** Fault of the member `display` of a claim mapping, which has any shape. */
export const claimDisplayFault = (display: unknown): string | undefined => {
  if (!Array.isArray(display) || display.length === 0 || display.length > MAX_DISPLAY_ENTRIES)
    return `must have an array of 1 to ${MAX_DISPLAY_ENTRIES} entries in display`;
  for (const entry of display as unknown[]) {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'must have only objects in display';
    const unknown = Object.keys(entry).find((key) => key !== 'name' && key !== 'locale');
    if (unknown !== undefined)
      return `must not have the member ${unknown.slice(0, 100).toWellFormed()} in display; allowed: name and locale`;
    const { name, locale } = entry as Partial<Record<'name' | 'locale', unknown>>;
    if (typeof name !== 'string' || name === '' || name.length > 1024)
      return 'must have a name of 1 to 1024 characters in each entry of display';
    if (locale !== undefined && (typeof locale !== 'string' || canonicalLanguageTag(locale) === undefined))
      return 'must have language tags such as en or de-CH (BCP 47) as locale in display';
  }
  const repeated = repeatedLocale(display as ClaimDisplay[]);
  return repeated && 'must have each language at most once in display, and at most one entry without locale';
};
