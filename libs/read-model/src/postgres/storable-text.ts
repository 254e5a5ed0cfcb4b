/**
 * PostgreSQL stores neither U+0000 nor half a surrogate pair in a text. Names that callers choose contain none; a filter may, and then
 * finds nothing, as in SQLite.
 */
export const storableText = (text: string): string => {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
};
