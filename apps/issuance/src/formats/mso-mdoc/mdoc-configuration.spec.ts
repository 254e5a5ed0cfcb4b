import type { ErrorDetail, MobileConfigurationRequest } from '@attestry/contracts';
import { ELEMENT_TYPES } from '@attestry/cose';
import fc from 'fast-check';
import { mdocContentOf, mdocFaults, mdocRecordOf } from './mdoc-configuration.decisions.js';

const NAMESPACE = 'org.example.1';
const request = (more: object = {}): MobileConfigurationRequest => ({
  type: 'org.example.card',
  claimMappings: { [NAMESPACE]: { given_name: { mapFrom: 'claims.given_name' } } },
  expiresIn: { days: 1 },
  ...more,
});
const mapped = (mapping: unknown, element = 'x', namespace = NAMESPACE) => ({
  claimMappings: Object.fromEntries([[namespace, Object.fromEntries([[element, mapping]])]]),
});
const body = (param: string, msg: string, value?: unknown): ErrorDetail => ({
  ...(value !== undefined && { value }),
  msg,
  param,
  location: 'body',
});
const tooLong = (days: number, longest: number) =>
  `must be at most ${days} days, for which the certificate of every signer is valid; it can be ${longest} days`;
const MDL = 'org.iso.18013.5.1.mDL';
const MANDATORY = [
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
];
const mdl = (elements: readonly string[]) => ({
  type: MDL,
  claimMappings: {
    'org.iso.18013.5.1': Object.fromEntries(elements.map((name) => [name, { mapFrom: `claims.${name}` }])),
  },
});

describe('rules of a configuration', () => {
  it('accept a full request, and null for absent members', () => {
    const full = {
      claimMappings: {
        [NAMESPACE]: {
          name: { mapFrom: 'claims.name', type: 'string', required: true, display: [{ name: 'Name', locale: 'en' }] },
          points: { mapFrom: 'claims.points', type: 'number', defaultValue: 1.5 },
          member: { defaultValue: true, type: 'boolean' },
          born: { defaultValue: '1990-12-10', type: 'date' },
          since: { defaultValue: '2020-01-31T12:00:00+01:00', type: 'dateTime' },
          picture: { defaultValue: 'AQID', type: 'binary' },
          address: { defaultValue: { city: 'Perth' }, type: 'object' },
          lines: { defaultValue: ['a', 1], type: 'array' },
        },
        'https://example.com/n': { sub: { mapFrom: 'authenticationProvider.subjectId' } },
      },
      validFrom: { mapFrom: 'claims.from' },
      validUntil: { mapFrom: "claims['https://example.com/until']" },
      branding: {
        name: 'Card',
        description: 'd',
        backgroundColor: '#a1b2c3',
        watermarkImage: 'data:image/png;base64,AAAA',
        issuerLogo: 'https://example.com/logo.png',
        issuerIcon: 'data:image/svg+xml,%3Csvg/%3E',
      },
      display: [{ locale: 'de', name: 'Karte' }],
      expiresIn: { hours: 2 },
      maxIssuances: 1,
      includeStatus: true,
      claimSourceId: null,
    };
    expect(mdocFaults(request(full))).toEqual([]);
    // AAMVA has such names.
    expect(mdocFaults(request(mapped({ mapFrom: 'claims.aka' }, 'aka_family_name.v2')))).toEqual([]);
  });

  it('allow the validity for which every signer is valid, which is shorter for a driving licence [T620]', () => {
    for (const type of ['org.example.card', 'org.iso.18013.5.1.mDL.AU'])
      for (const expiresIn of [{ years: 9 }, { days: 3620 }])
        expect(mdocFaults(request({ type, expiresIn }))).toEqual([]);
    expect(mdocFaults(request({ ...mdl(MANDATORY), expiresIn: { days: 427 } }))).toEqual([]);
    for (const [expiresIn, longest] of [
      [{ days: 428 }, 428],
      [{ months: 14 }, 428],
      [{ years: 10 }, 3653],
    ] as const)
      expect(mdocFaults(request({ ...mdl(MANDATORY), expiresIn }))).toEqual([
        body('expiresIn', tooLong(427, longest), expiresIn),
      ]);
  });

  it.each<readonly [object, ErrorDetail]>([
    [{ type: 'VerifiableCredential' }, body('type', 'must not be VerifiableCredential', 'VerifiableCredential')],
    [{ expiresIn: {} }, body('expiresIn', 'must be at least 2 hours', {})],
    [{ expiresIn: { minutes: 119 } }, body('expiresIn', 'must be at least 2 hours', { minutes: 119 })],
    [{ expiresIn: { years: 10 } }, body('expiresIn', tooLong(3620, 3653), { years: 10 })],
    [
      { statusMechanism: 'identifier_list' },
      body('statusMechanism', 'must not be used without includeStatus: true', 'identifier_list'),
    ],
    [
      { validUntil: { mapFrom: 'claims.https://acme.example/until' } },
      body(
        'validUntil',
        "must have claims['https://acme.example/until'] in mapFrom: a name with dots is quoted",
        'claims.https://acme.example/until',
      ),
    ],
    ...['validFrom', 'validUntil'].map(
      (time) =>
        [
          { [time]: { mapFrom: 'from' } },
          body(
            time,
            "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom",
            'from',
          ),
        ] as const,
    ),
    ...['watermarkImage', 'issuerLogo', 'issuerIcon'].flatMap((image) =>
      ['http://example.com/a.png', 'javascript:alert(1)', 'data:text/html,x'].map(
        (url) =>
          [
            { branding: { [image]: url } },
            body(`branding.${image}`, 'must be an https URL or a data URL of an image'),
          ] as const,
      ),
    ),
    [{ display: [{}, {}] }, body('display.1.locale', 'is required: another entry has none')],
    [{ claimMappings: {} }, body('claimMappings', 'must have at least one element')],
    [{ claimMappings: { a: {} } }, body('claimMappings', 'must have at least one element')],
    [
      { claimMappings: { a: {}, b: { x: { defaultValue: 'x' } } } },
      body('claimMappings.a', 'must have at least one element'),
    ],
    [
      { claimMappings: { given_name: [] } },
      body('claimMappings.given_name', 'must be an object with a mapping for each element'),
    ],
    [
      { claimMappings: { given_name: { mapFrom: 'claims.x' } } },
      body('claimMappings.given_name.mapFrom', 'must be an object'),
    ],
    [mapped({ defaultValue: 'x' }, 'x', ''), body('claimMappings.', 'must have a name of 1 to 1024 characters')],
    [
      mapped({ defaultValue: 'x' }, ''),
      body(`claimMappings.${NAMESPACE}.`, 'must have a name of 1 to 1024 characters'),
    ],
    [
      mapped({ defaultValue: 'x' }, '__proto__'),
      body(
        `claimMappings.${NAMESPACE}.__proto__`,
        'is a reserved name: __proto__ would change what a JavaScript object is',
      ),
    ],
    [mapped({ defaultValue: 'x' }, '\ud800'), body(`claimMappings.${NAMESPACE}.\ud800`, 'must be well-formed Unicode')],
    [mapped({}), body(`claimMappings.${NAMESPACE}.x`, 'must have mapFrom or defaultValue')],
    [
      mapped({ mapFrom: 'claims.x', type: 'text' }),
      body(
        `claimMappings.${NAMESPACE}.x`,
        'must have one of these in type: string, number, boolean, date, dateTime, binary, object, array',
      ),
    ],
    [
      mapped({ mapFrom: 'claims.x', types: 'string' }),
      body(
        `claimMappings.${NAMESPACE}.x`,
        'must not have the member types; allowed: type, mapFrom, defaultValue, required and display',
      ),
    ],
    [
      mapped({ defaultValue: 1 }),
      body(`claimMappings.${NAMESPACE}.x`, 'has a defaultValue that is not of type string: it must be a string'),
    ],
    [
      mapped({ defaultValue: '31.1.2026', type: 'date' }),
      body(
        `claimMappings.${NAMESPACE}.x`,
        'has a defaultValue that is not of type date: it must be a date such as 2026-01-31',
      ),
    ],
    [
      {
        claimMappings: Object.fromEntries(
          Array.from({ length: 201 }, (_, index) => [`n${index}`, { x: { defaultValue: 'x' } }]),
        ),
      },
      body('claimMappings', 'must have at most 200 entries'),
    ],
    [mapped({ defaultValue: 'x'.repeat(65_536) }), body('claimMappings', 'must be at most 64 KiB of JSON')],
  ])('name the fault in %j', (more, detail) => expect(mdocFaults(request(more))).toEqual([detail]));

  it('require each mandatory element for org.iso.18013.5.1.mDL, and for no other type', () => {
    expect(mdocFaults(request(mdl(MANDATORY)))).toEqual([]);
    fc.assert(
      fc.property(fc.subarray(MANDATORY, { minLength: 1 }), (elements) => {
        expect(mdocFaults(request(mdl(elements))).map(({ param, msg }) => [param, msg])).toEqual(
          MANDATORY.filter((name) => !elements.includes(name)).map((name) => [
            `claimMappings.org.iso.18013.5.1.${name}`,
            `is required: it is mandatory for ${MDL}`,
          ]),
        );
        for (const type of ['org.iso.18013.5.2.mDL', 'org.iso.18013.5.1.mdl', 'org.example.card'])
          expect(mdocFaults(request({ ...mdl(elements), type }))).toEqual([]);
      }),
    );
  });

  it('accept any JSON as defaultValue only where its type has it', () => {
    const kinds: Record<string, (value: unknown) => boolean> = {
      string: (value) => typeof value === 'string' && value.isWellFormed(),
      number: (value) => typeof value === 'number',
      boolean: (value) => typeof value === 'boolean',
      object: (value) => typeof value === 'object' && !Array.isArray(value),
      array: (value) => Array.isArray(value),
    };
    const values = fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null);
    fc.assert(
      fc.property(values, fc.constantFrom(...Object.keys(kinds)), (defaultValue, type) => {
        const faults = mdocFaults(request(mapped({ defaultValue, type })));
        expect(faults.length).toBe(kinds[type]!(defaultValue) ? 0 : 1);
      }),
    );
    expect(Object.keys(kinds).every((type) => (ELEMENT_TYPES as readonly string[]).includes(type))).toBe(true);
  });
});

describe('what is stored of a configuration', () => {
  it('is the same text in every release, and is returned with what it leaves out', () => {
    const full = request({
      expiresIn: { days: 1, hours: null },
      validFrom: { mapFrom: 'claims.from' },
      branding: { name: 'Card', description: null },
      display: [{ locale: 'de', name: 'Karte' }],
      maxIssuances: 2,
      includeStatus: false,
      claimSourceId: null,
    });
    const content = mdocContentOf(full);
    expect(JSON.stringify(content)).toBe(
      '{"claimMappings":{"org.example.1":{"given_name":{"mapFrom":"claims.given_name"}}},"expiresIn":{"days":1},' +
        '"validFrom":{"mapFrom":"claims.from"},"branding":{"name":"Card"},"display":[{"locale":"de","name":"Karte"}],"maxIssuances":2}',
    );
    expect(
      mdocRecordOf({
        status: 'active',
        id: 'c1',
        format: 'mso_mdoc',
        type: 'org.example.card',
        createdAt: '',
        version: 1,
        content,
      }),
    ).toEqual({ id: 'c1', type: 'org.example.card', ...content, includeStatus: false });
    const withStatus = mdocContentOf(request({ includeStatus: true }));
    expect(withStatus.revocable).toBe(true);
    const active = { status: 'active', id: 'c1', format: 'mso_mdoc', createdAt: '', version: 1 } as const;
    expect(mdocRecordOf({ ...active, type: 'org.example.card', content: withStatus })).toEqual({
      id: 'c1',
      type: 'org.example.card',
      claimMappings: withStatus.claimMappings,
      expiresIn: { days: 1 },
      ...{ includeStatus: true, statusMechanism: 'status_list' },
    });
    const listed = mdocContentOf(request({ includeStatus: true, statusMechanism: 'status_list' }));
    expect(listed).toEqual(withStatus);
    const identified = mdocContentOf(request({ includeStatus: true, statusMechanism: 'identifier_list' }));
    expect(identified).toEqual({ ...withStatus, statusMechanism: 'identifier_list' });
    expect(mdocRecordOf({ ...active, type: 'org.example.card', content: identified })).toMatchObject({
      ...{ includeStatus: true, statusMechanism: 'identifier_list' },
    });
  });
});

describe('types of elements that a standard defines', () => {
  const NAMESPACE_OF_MDL = 'org.iso.18013.5.1';
  const PID = 'eu.europa.ec.eudi.pid.1';
  const typesOf = (claimMappings: Record<string, Record<string, { type?: string }>>) =>
    Object.fromEntries(
      Object.entries(claimMappings).map(([namespace, elements]) => [
        namespace,
        Object.fromEntries(Object.entries(elements).map(([element, { type }]) => [element, type])),
      ]),
    );
  const licence = (elements: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => {
    const { claimMappings } = mdl(MANDATORY);
    const own = claimMappings[NAMESPACE_OF_MDL];
    return request({ type: MDL, claimMappings: { [NAMESPACE_OF_MDL]: { ...own, ...elements }, ...more } });
  };

  it('are those of elements without one, and shown; others have none [T643]', () => {
    const made = licence(
      {
        age_over_18: { mapFrom: 'claims.adult' },
        expiry_date: { defaultValue: '2036-01-31T00:00:00Z', type: 'dateTime' },
        own: { mapFrom: 'claims.x' },
      },
      { [NAMESPACE]: { portrait: { mapFrom: 'claims.picture' } } },
    );
    expect(mdocFaults(made)).toEqual([]);
    const content = mdocContentOf(made);
    const types = {
      [NAMESPACE_OF_MDL]: {
        ...Object.fromEntries(MANDATORY.map((name) => [name, 'string'])),
        ...{ birth_date: 'date', issue_date: 'date', expiry_date: 'dateTime', portrait: 'binary' },
        ...{ driving_privileges: 'array', age_over_18: 'boolean', own: undefined },
      },
      [NAMESPACE]: { portrait: undefined },
    };
    expect(typesOf(content.claimMappings)).toEqual(types);
    const configuration = { status: 'active', id: 'c1', format: 'mso_mdoc', createdAt: '', version: 1 } as const;
    const record = mdocRecordOf({ ...configuration, type: MDL, content });
    expect(typesOf(record.claimMappings)).toEqual(types);
    // A record that was read can be sent again.
    const again = request({ type: MDL, claimMappings: record.claimMappings });
    expect([mdocFaults(again), mdocContentOf(again).claimMappings]).toEqual([[], content.claimMappings]);
  });

  it.each<[string, unknown, string]>([
    ['height', 180.5, 'must be a whole number of at least 0, because ISO/IEC 18013-5 table 5 defines it as uint'],
    [
      'driving_privileges',
      [{ issue_date: '31.01.2020' }],
      'must have a date such as 2026-01-31 in 0.issue_date, because ISO/IEC 18013-5 §7.2.4 defines it as full-date',
    ],
  ])('refuse a default value that no %s can have [T691, T692]', (element, defaultValue, msg) =>
    expect(mdocFaults(licence({ [element]: { defaultValue } }))).toEqual([
      {
        msg: `has a defaultValue that no document can have: it ${msg}`,
        param: `claimMappings.${NAMESPACE_OF_MDL}.${element}`,
        location: 'body',
      },
    ]),
  );

  it('are those of the PID rulebook for a PID [T643]', () => {
    const elements = {
      ...{ family_name: {}, birth_date: {}, expiry_date: {}, portrait: {}, sex: {}, age_over_18: {}, nationality: {} },
      place_of_birth: {},
    };
    const mappings = Object.fromEntries(Object.keys(elements).map((name) => [name, { mapFrom: `claims.${name}` }]));
    const made = request({ type: PID, claimMappings: { [PID]: mappings } });
    expect(mdocFaults(made)).toEqual([]);
    expect(typesOf(mdocContentOf(made).claimMappings)).toEqual({
      [PID]: {
        ...{ family_name: 'string', birth_date: 'date', expiry_date: 'date', portrait: 'binary', sex: 'number' },
        ...{ age_over_18: 'boolean', nationality: 'string', place_of_birth: 'object' },
      },
    });
    for (const type of ['string', 'array'])
      expect(mdocFaults(request({ type: PID, ...mapped({ mapFrom: 'claims.x', type }, 'nationality', PID) }))).toEqual(
        [],
      );
  });

  it.each<[string, string, string, string, string]>([
    [
      MDL,
      NAMESPACE_OF_MDL,
      'birth_date',
      'string',
      'must have date in type, as ISO/IEC 18013-5 table 5 defines, not string',
    ],
    [
      MDL,
      NAMESPACE_OF_MDL,
      'issue_date',
      'string',
      'must have date or dateTime in type, as ISO/IEC 18013-5 table 5 defines, not string',
    ],
    [
      MDL,
      NAMESPACE_OF_MDL,
      'age_over_21',
      'number',
      'must have boolean in type, as ISO/IEC 18013-5 table 5 defines, not number',
    ],
    [PID, PID, 'portrait', 'string', 'must have binary in type, as the PID rulebook defines, not string'],
    [PID, PID, 'nationality', 'object', 'must have string or array in type, as the PID rulebook defines, not object'],
  ])('are not contradicted: %s %s %s %s [T644]', (docType, namespace, element, type, msg) => {
    const mapping = { [element]: { mapFrom: 'claims.x', type } };
    const made =
      docType === MDL ? licence(mapping) : request({ type: docType, claimMappings: { [namespace]: mapping } });
    expect(mdocFaults(made)).toEqual([body(`claimMappings.${namespace}.${element}`, msg)]);
    // Another document type is free to choose.
    expect(mdocFaults(request(mapped(mapping[element], element, namespace)))).toEqual([]);
  });

  it('apply to a defaultValue [T644]', () => {
    const made = licence({
      birth_date: { defaultValue: '10 December 1990' },
      portrait: { defaultValue: 'no base64!' },
    });
    expect(mdocFaults(made).map(({ param, msg }) => [param, msg])).toEqual([
      [
        `claimMappings.${NAMESPACE_OF_MDL}.birth_date`,
        'has a defaultValue that is not of type date: it must be a date such as 2026-01-31',
      ],
      [
        `claimMappings.${NAMESPACE_OF_MDL}.portrait`,
        'has a defaultValue that is not of type binary: it must be a string in base64 or base64url',
      ],
    ]);
  });

  it('are not given to malformed mappings, which are refused as before', () => {
    for (const mapping of [
      null,
      1,
      'x',
      [],
      {},
      { mapFrom: 'claims.x', type: null },
      { mapFrom: 'claims.x', type: 'tstr' },
    ])
      expect([mapping, mdocFaults(licence({ birth_date: mapping })).map(({ param }) => param)]).toEqual([
        mapping,
        [`claimMappings.${NAMESPACE_OF_MDL}.birth_date`],
      ]);
    for (const mappings of [null, 1, [], 'x'])
      expect(
        mdocFaults(request({ type: PID, claimMappings: { [PID]: mappings } as never })).map(({ param }) => param),
      ).toEqual([`claimMappings.${PID}`]);
  });
});
