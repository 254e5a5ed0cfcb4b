import { isDate, type ElementType } from './element-types.js';
import { isObject } from './json-claims.js';
import { MDL_DOC_TYPE, MDL_NAMESPACE } from './mdl.js';

/** Types that a standard allows for an element; the first is that of an element without one. */
export type StandardTypes = readonly [ElementType, ...ElementType[]];

interface StandardNamespace {
  /** Where the types are defined, for messages. */
  source: string;
  elements: ReadonlyMap<string, StandardTypes>;
  /** Elements whose name ends with a value, such as `age_over_18`. */
  families: readonly (readonly [RegExp, StandardTypes])[];
}

const TEXT: StandardTypes = ['string'];
/** `uint` */
const NUMBER: StandardTypes = ['number'];
const BOOLEAN: StandardTypes = ['boolean'];
const FULL_DATE: StandardTypes = ['date'];
/** `tdate or full-date` */
const EITHER_DATE: StandardTypes = ['date', 'dateTime'];
const TDATE: StandardTypes = ['dateTime'];
const BYTES: StandardTypes = ['binary'];

const named = (types: StandardTypes, names: string): [string, StandardTypes][] =>
  names.split(' ').map((name) => [name, types]);

const AGE_OVER = [/^age_over_\d\d$/, BOOLEAN] as const;

/** ISO/IEC 18013-5 §7.2.1, Table 5. */
const MDL: StandardNamespace = {
  source: 'ISO/IEC 18013-5 table 5',
  elements: new Map<string, StandardTypes>([
    ...named(TEXT, 'family_name given_name issuing_country issuing_authority document_number un_distinguishing_sign'),
    ...named(TEXT, 'administrative_number eye_colour hair_colour birth_place resident_address issuing_jurisdiction'),
    ...named(TEXT, 'nationality resident_city resident_state resident_postal_code resident_country'),
    ...named(TEXT, 'family_name_national_character given_name_national_character'),
    ...named(FULL_DATE, 'birth_date'),
    ...named(EITHER_DATE, 'issue_date expiry_date'),
    ...named(TDATE, 'portrait_capture_date'),
    ...named(BYTES, 'portrait signature_usual_mark'),
    ...named(NUMBER, 'sex height weight age_in_years age_birth_year'),
    ...named(['array'], 'driving_privileges'),
  ]),
  families: [AGE_OVER, [/^biometric_template_./, BYTES]],
};

/**
 * EU PID Rulebook (Architecture and Reference Framework, annex 3.1), encoding of PIDs as ISO/IEC 18013-5 documents. Where its versions differ,
 * the types of either are allowed: a nationality was a text before it was a list, a place of birth a text before it was an object.
 */
const PID: StandardNamespace = {
  source: 'the PID rulebook',
  elements: new Map<string, StandardTypes>([
    ...named(TEXT, 'family_name given_name family_name_birth given_name_birth birth_country birth_state birth_city'),
    ...named(TEXT, 'resident_address resident_country resident_state resident_city resident_postal_code'),
    ...named(TEXT, 'resident_street resident_house_number personal_administrative_number administrative_number'),
    ...named(TEXT, 'email_address mobile_phone_number issuing_authority issuing_country issuing_jurisdiction'),
    ...named(TEXT, 'document_number location_status trust_anchor attestation_legal_category'),
    ...named(['string', 'array'], 'nationality'),
    ...named(['string', 'object'], 'birth_place'),
    ...named(['object', 'string'], 'place_of_birth'),
    ...named(FULL_DATE, 'birth_date'),
    ...named(EITHER_DATE, 'issuance_date expiry_date'),
    ...named(BYTES, 'portrait'),
    ...named(NUMBER, 'sex gender age_in_years age_birth_year'),
  ]),
  families: [AGE_OVER],
};

const PID_TYPE = 'eu.europa.ec.eudi.pid.1';

/** By document type; each has one namespace whose elements a standard types. */
const STANDARDS = new Map<string, { namespace: string; standard: StandardNamespace }>([
  [MDL_DOC_TYPE, { namespace: MDL_NAMESPACE, standard: MDL }],
  [PID_TYPE, { namespace: PID_TYPE, standard: PID }],
]);

export interface StandardElement {
  types: StandardTypes;
  source: string;
}

/** Type of an element by its standard; undefined for every other document type, namespace and element. */
export const standardElement = (docType: string, namespace: string, element: string): StandardElement | undefined => {
  const found = STANDARDS.get(docType);
  if (found?.namespace !== namespace) return undefined;
  const { elements, families, source } = found.standard;
  const types = elements.get(element) ?? families.find(([pattern]) => pattern.test(element))?.[1];
  return types && { types, source };
};

/** All elements that are numbers have the type `uint`. */
const uintFault = (value: unknown, source: string): string | undefined =>
  typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0)
    ? undefined
    : `must be a whole number of at least 0, because ${source} defines it as uint`;

/** ISO/IEC 18013-5 §7.2.4: the dates of a driving privilege are of type full-date. */
const privilegesFault = (value: unknown): string | undefined => {
  if (!Array.isArray(value)) return undefined;
  for (const [index, privilege] of value.entries())
    for (const name of ['issue_date', 'expiry_date'])
      if (isObject(privilege) && Object.hasOwn(privilege, name) && !isDate(privilege[name]))
        return `must have a date such as 2026-01-31 in ${index}.${name}, because ISO/IEC 18013-5 §7.2.4 defines it as full-date`;
  return undefined;
};

/** Why a value that has the type of its element is not what the standard says of this element. */
export const standardValueFault = (
  docType: string,
  namespace: string,
  element: string,
  { type, value }: { type: ElementType; value: unknown },
): string | undefined => {
  const standard = standardElement(docType, namespace, element);
  if (!standard?.types.includes(type)) return undefined;
  if (docType === MDL_DOC_TYPE && element === 'driving_privileges') return privilegesFault(value);
  return type === 'number' ? uintFault(value, standard.source) : undefined;
};
