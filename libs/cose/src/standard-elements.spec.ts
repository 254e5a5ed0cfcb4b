import { ELEMENT_TYPES } from './element-types.js';
import { MDL_DOC_TYPE, MDL_MANDATORY_ELEMENTS, MDL_NAMESPACE } from './mdl.js';
import { standardElement, standardValueFault } from './standard-elements.js';

const PID = 'eu.europa.ec.eudi.pid.1';
const mdl = (element: string) => standardElement(MDL_DOC_TYPE, MDL_NAMESPACE, element)?.types;
const pid = (element: string) => standardElement(PID, PID, element)?.types;

/** Rows of ISO/IEC 18013-5:2021 Table 5, in its order, with its encoding formats. */
const TABLE_5 = {
  family_name: 'tstr',
  given_name: 'tstr',
  birth_date: 'full-date',
  issue_date: 'tdate or full-date',
  expiry_date: 'tdate or full-date',
  issuing_country: 'tstr',
  issuing_authority: 'tstr',
  document_number: 'tstr',
  portrait: 'bstr',
  driving_privileges: 'See 7.2.4',
  un_distinguishing_sign: 'tstr',
  administrative_number: 'tstr',
  sex: 'uint',
  height: 'uint',
  weight: 'uint',
  eye_colour: 'tstr',
  hair_colour: 'tstr',
  birth_place: 'tstr',
  resident_address: 'tstr',
  portrait_capture_date: 'tdate',
  age_in_years: 'uint',
  age_birth_year: 'uint',
  age_over_18: 'bool',
  age_over_00: 'bool',
  age_over_99: 'bool',
  issuing_jurisdiction: 'tstr',
  nationality: 'tstr',
  resident_city: 'tstr',
  resident_state: 'tstr',
  resident_postal_code: 'tstr',
  resident_country: 'tstr',
  biometric_template_face: 'bstr',
  biometric_template_signature_sign: 'bstr',
  family_name_national_character: 'tstr',
  given_name_national_character: 'tstr',
  signature_usual_mark: 'bstr',
} as const;
const TYPES = {
  tstr: ['string'],
  'full-date': ['date'],
  'tdate or full-date': ['date', 'dateTime'],
  tdate: ['dateTime'],
  bstr: ['binary'],
  uint: ['number'],
  bool: ['boolean'],
  'See 7.2.4': ['array'],
};

describe('types that standards define', () => {
  it.each(Object.entries(TABLE_5))('ISO/IEC 18013-5 table 5: %s is %s [T643]', (element, encoding) =>
    expect(mdl(element)).toEqual(TYPES[encoding]),
  );

  it.each<[string, readonly string[]]>([
    ...['family_name', 'family_name_birth', 'resident_house_number', 'issuing_authority', 'document_number'].map(
      (name): [string, string[]] => [name, ['string']],
    ),
    ['birth_date', ['date']],
    ['issuance_date', ['date', 'dateTime']],
    ['expiry_date', ['date', 'dateTime']],
    ['portrait', ['binary']],
    ['sex', ['number']],
    ['gender', ['number']],
    ['age_over_18', ['boolean']],
    ['age_in_years', ['number']],
    ['age_birth_year', ['number']],
    ['nationality', ['string', 'array']],
    ['birth_place', ['string', 'object']],
    ['place_of_birth', ['object', 'string']],
  ])('PID rulebook: %s is %j [T643]', (element, types) => expect(pid(element)).toEqual(types));

  it('include every mandatory element of an mDL, and only types that there are', () => {
    for (const element of MDL_MANDATORY_ELEMENTS) expect([element, mdl(element)]).toEqual([element, expect.any(Array)]);
    for (const element of Object.keys(TABLE_5)) for (const type of mdl(element)!) expect(ELEMENT_TYPES).toContain(type);
  });

  it.each([
    'other',
    'constructor',
    'toString',
    '__proto__',
    'age_over_',
    'age_over_1',
    'age_over_118',
    'xage_over_18',
    'biometric_template_',
    'issuance_date',
    'Portrait',
  ])('are none for the element %s of an mDL', (element) => expect(mdl(element)).toBeUndefined());

  it('are none in other namespaces and document types', () => {
    expect(standardElement(MDL_DOC_TYPE, 'org.iso.18013.5.1.aamva', 'portrait')).toBeUndefined();
    expect(standardElement(MDL_DOC_TYPE, PID, 'portrait')).toBeUndefined();
    expect(standardElement(PID, MDL_NAMESPACE, 'portrait')).toBeUndefined();
    expect(standardElement('org.iso.18013.5.2.mDL', MDL_NAMESPACE, 'portrait')).toBeUndefined();
    expect(standardElement('org.iso.23220.photoid.1', MDL_NAMESPACE, 'portrait')).toBeUndefined();
    expect(pid('issue_date')).toBeUndefined();
  });
});

describe('a value of a standard element', () => {
  const uint = /^must be a whole number of at least 0, because .+ defines it as uint$/;
  const of = (element: string, value: unknown, docType = MDL_DOC_TYPE, namespace = MDL_NAMESPACE) =>
    standardValueFault(docType, namespace, element, {
      type: element === 'driving_privileges' ? 'array' : 'number',
      value,
    });

  it.each(['sex', 'height', 'weight', 'age_in_years', 'age_birth_year'])('%s is a uint [T691]', (element) => {
    for (const value of [0, 180, Number.MAX_SAFE_INTEGER]) expect(of(element, value)).toBeUndefined();
    for (const value of [180.5, -1, 2 ** 53]) expect(of(element, value)).toMatch(uint);
  });

  it('is a uint in a PID too; other elements and types are not [T691]', () => {
    expect(of('sex', 1.5, PID, PID)).toMatch(/the PID rulebook/);
    expect(of('points', 1.5)).toBeUndefined();
    expect(of('height', 1.5, 'org.example')).toBeUndefined();
    expect(of('height', 1.5, MDL_DOC_TYPE, 'own')).toBeUndefined();
    const ofBefore = { type: 'string', value: '1.5' } as const;
    expect(standardValueFault(MDL_DOC_TYPE, MDL_NAMESPACE, 'height', ofBefore)).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['0.issue_date', [{ vehicle_category_code: 'B', issue_date: '31.01.2020' }]],
    ['0.issue_date', [{ issue_date: '2020-01-31T00:00:00Z' }]],
    ['1.expiry_date', [{ expiry_date: '2020-01-31' }, { expiry_date: '2023-02-29' }]],
    ['0.expiry_date', [{ expiry_date: null }]],
  ])('of driving_privileges has full-dates: %s [T692]', (path, value) =>
    expect(of('driving_privileges', value)).toBe(
      `must have a date such as 2026-01-31 in ${path}, because ISO/IEC 18013-5 §7.2.4 defines it as full-date`,
    ),
  );

  it('of driving_privileges may have no dates [T692]', () => {
    for (const value of [[], [{ vehicle_category_code: 'B' }], [{ issue_date: '2020-02-29', codes: [] }]])
      expect(of('driving_privileges', value)).toBeUndefined();
  });
});
