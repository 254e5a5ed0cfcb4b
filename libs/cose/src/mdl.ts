import type { CborValue } from './cbor.js';
import { fullDate } from './cbor.js';
import { isDate } from './element-types.js';
import { isObject } from './json-claims.js';

export const MDL_DOC_TYPE = 'org.iso.18013.5.1.mDL';
export const MDL_NAMESPACE = 'org.iso.18013.5.1';

/** ISO/IEC 18013-5 Table 5, presence M. */
export const MDL_MANDATORY_ELEMENTS = [
  'family_name',
  'given_name',
  'birth_date',
  'issue_date',
  'expiry_date',
  'issuing_country',
  'issuing_authority',
  'document_number',
  'portrait',
  'driving_privileges',
  'un_distinguishing_sign',
] as const;

/** A driving licence of any edition: `org.iso.18013.5.<n>.mDL`. */
export const isMdlDocType = (docType: string): boolean => /^org\.iso\.18013\.5\.\d+\.mDL$/.test(docType);

/** Days from `validFrom` to `validUntil`: an mDL expires while the certificate of its signer, of 457 days, is valid. */
export const longestMdocLifetimeDays = (docType: string): number => (isMdlDocType(docType) ? 427 : 3620);

/** Mandatory elements that a document lacks; none are mandatory for other document types. */
export const missingMdlElements = (
  docType: string,
  namespaces: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): string[] => {
  if (docType !== MDL_DOC_TYPE) return [];
  const given = namespaces[MDL_NAMESPACE] ?? {};
  return MDL_MANDATORY_ELEMENTS.filter((element) => !Object.hasOwn(given, element));
};

/** ISO/IEC 18013-5 §7.2.4: the dates of a driving privilege are of type full-date, which JSON has not. */
export const typePrivilegeDates = (value: unknown, converted: CborValue): CborValue => {
  if (!Array.isArray(value)) return converted;
  return (converted as readonly CborValue[]).map((privilege, index) => {
    if (!isObject(value[index])) return privilege;
    const typed = new Map(privilege as ReadonlyMap<string, CborValue>);
    for (const name of ['issue_date', 'expiry_date']) {
      const date = value[index][name];
      if (isDate(date)) typed.set(name, fullDate(date));
    }
    return typed;
  });
};
