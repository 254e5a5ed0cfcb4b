const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const VALUE = `[\\t ]*=[\\t ]*(${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
/** One preference of the list with its value, and parameters, which are ignored. RFC 7240 §2 */
const PREFERENCE = new RegExp(
  `[\\t ,]*(${TOKEN})(?:${VALUE})?(?:[\\t ]*;(?:[\\t ]*${TOKEN}(?:${VALUE})?)?)*[\\t ]*(?:,|$)`,
  'y',
);

/** Whether the header `Prefer` has `handling=lenient`. Of a repeated preference only the first counts (RFC 7240 §2 and §4.4). */
export const prefersLenient = (header: string | string[] | undefined): boolean => {
  if (header === undefined) return false;
  const text = String(header);
  PREFERENCE.lastIndex = 0;
  for (let found = PREFERENCE.exec(text); found; found = PREFERENCE.exec(text)) {
    const [, name, value = ''] = found;
    if (name!.toLowerCase() === 'handling') return value.replace(/^"|"$/g, '').toLowerCase() === 'lenient';
  }
  return false;
};
