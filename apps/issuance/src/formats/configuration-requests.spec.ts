import {
  AppError,
  CONFIGURATION_OPERATIONS,
  createStatusListConfiguration,
  type ErrorDetail,
  type Operation,
  updateStatusListConfiguration,
} from '@attestry/contracts';
import { checkRequest } from '@attestry/service-kit';

const FORMATS = Object.keys(CONFIGURATION_OPERATIONS) as (keyof typeof CONFIGURATION_OPERATIONS)[];
const id = '11111111-1111-4111-8111-111111111111';

const TYPE = 'must have 1 to 1024 characters that are allowed in a scope (RFC 6749 section 3.3)';
const DURATION = 'must be an object with years, months, weeks, days, hours, minutes or seconds';
const ENTRY = 'must contain only strings of 1 to 1024 characters without white space';
/** Fault of one entry. */
const TOO_LONG = 'must have at most 1024 characters';

const detailsOf = (operation: Operation, body: object): ErrorDetail[] => {
  try {
    checkRequest(operation, { params: operation.params ? { id } : {}, query: {}, body });
  } catch (error) {
    if (error instanceof AppError) return error.details!;
    throw error;
  }
  return [];
};
/** Parameter and text of each fault of the example in the interface definition, with other values for some members. */
const faultsOf = (operation: Operation, changes: object): string[] =>
  detailsOf(operation, { ...(operation.example as object), ...changes }).map(({ param, msg, location }) => {
    expect(location).toBe('body');
    return `${param} ${msg}`;
  });

describe.each(FORMATS)('the request of a configuration: %s', (format) => {
  const { create, update } = CONFIGURATION_OPERATIONS[format];

  it('is accepted as the interface definition shows it, with every limit reached', () => {
    for (const changes of [
      {},
      { type: `!#[]~${'t'.repeat(1019)}`, maxIssuances: 1000, expiresIn: { days: 1 } },
      { type: 't', maxIssuances: 1 },
      { claimSourceId: '3F0F2C59-6a27-4e80-b2a0-9b6f5f0c7d11' },
      { claimSourceId: null },
    ])
      expect([faultsOf(create, changes), faultsOf(update, changes)]).toEqual([[], []]);
  });

  it.each<[object, string]>([
    [{ claimSourceId: 'x' }, 'claimSourceId must be a UUID'],
    [{ claimSourceId: 7 }, 'claimSourceId must be a string'],
    [{ type: 'white space' }, `type ${TYPE}`],
    [{ type: '' }, `type ${TYPE}`],
    [{ type: 'a"b' }, `type ${TYPE}`],
    [{ type: 'a\\b' }, `type ${TYPE}`],
    [{ type: 'Größe' }, `type ${TYPE}`],
    [{ type: 't'.repeat(1025) }, `type ${TYPE}`],
    [{ type: 7 }, 'type must be a string'],
    [{ type: undefined }, 'type is required'],
    [{ claimMappings: undefined }, 'claimMappings is required'],
    [{ claimMappings: [] }, 'claimMappings must be an object'],
    [{ expiresIn: 'P1D' }, `expiresIn ${DURATION}`],
    [{ expiresIn: 3600 }, `expiresIn ${DURATION}`],
    [{ expiresIn: [] }, `expiresIn ${DURATION}`],
    [{ expiresIn: null }, `expiresIn ${DURATION}`],
    [{ expiresIn: { days: 1.5 } }, 'expiresIn.days must be an integer'],
    [{ maxIssuances: 1.5 }, 'maxIssuances must be an integer'],
    [{ maxIssuances: '1' }, 'maxIssuances must be an integer'],
    [{ maxIssuances: null }, 'maxIssuances must be an integer'],
    [{ maxIssuances: 0 }, 'maxIssuances must be at least 1'],
    [{ maxIssuances: 1001 }, 'maxIssuances must be at most 1000'],
  ])('with %j is refused: %s', (changes, fault) =>
    expect([faultsOf(create, changes), faultsOf(update, changes)]).toEqual([[fault], [fault]]),
  );
});

const LEVELS =
  'must contain only iso_18045_high, iso_18045_moderate, iso_18045_enhanced-basic, iso_18045_basic, or values of an ecosystem without white space, such as URLs';
const ROOTS = ['pem'];

describe.each(FORMATS)('the key requirements of a configuration: %s', (format) => {
  const { create, update } = CONFIGURATION_OPERATIONS[format];
  const faultsOfBoth = (changes: object) => [faultsOf(create, changes), faultsOf(update, changes)];

  it('are accepted with every limit reached [T380]', () => {
    const levels = ['iso_18045_high', 'iso_18045_moderate', 'iso_18045_enhanced-basic', 'iso_18045_basic'];
    const own = ['https://ecosystem.example/level', 'l'.repeat(256), 'iso_18045', 'x-iso_18045_x', '1', '2'];
    const roots = Array.from({ length: 10 }, (_, n) => `${n}`.padEnd(4096, 'x'));
    for (const changes of [
      { keyAttestation: { rootCertificates: ROOTS } },
      {
        keyAttestation: { keyStorage: [...levels, ...own], userAuthentication: levels, rootCertificates: roots },
        proofRootCertificates: roots,
      },
    ])
      expect(faultsOfBoth(changes)).toEqual([[], []]);
  });

  it.each<[object, string]>([
    [
      { keyAttestation: [] },
      'keyAttestation must be an object with rootCertificates, and optionally keyStorage and userAuthentication',
    ],
    [
      { keyAttestation: null },
      'keyAttestation must be an object with rootCertificates, and optionally keyStorage and userAuthentication',
    ],
    [{ keyAttestation: {} }, 'keyAttestation.rootCertificates is required'],
    [{ keyAttestation: { keyStorage: ['iso_18045_high'] } }, 'keyAttestation.rootCertificates is required'],
    [{ keyAttestation: { rootCertificates: [] } }, 'keyAttestation.rootCertificates must not be empty'],
    [{ keyAttestation: { rootCertificates: 'pem' } }, 'keyAttestation.rootCertificates must be an array'],
    [
      { keyAttestation: { rootCertificates: ['x'.repeat(4097)] } },
      'keyAttestation.rootCertificates.0 must have at most 4096 characters',
    ],
    ...(['keyStorage', 'userAuthentication'] as const).flatMap((member): [object, string][] => {
      const having = (values: unknown) => ({ keyAttestation: { [member]: values, rootCertificates: ROOTS } });
      return [
        [having([]), `keyAttestation.${member} must not be empty`],
        [having('iso_18045_high'), `keyAttestation.${member} must be an array`],
        [having(null), `keyAttestation.${member} must be an array`],
        [having(['a', 'a']), `keyAttestation.${member} must not repeat an entry`],
        [having([1]), `keyAttestation.${member} must contain only strings`],
        [having(['iso_18045_hihg']), `keyAttestation.${member} ${LEVELS}`],
        [having(['iso_18045_high ']), `keyAttestation.${member} ${LEVELS}`],
        [having(['iso_18045_highest']), `keyAttestation.${member} ${LEVELS}`],
        [having(['a b']), `keyAttestation.${member} ${LEVELS}`],
        [having(['']), `keyAttestation.${member} ${LEVELS}`],
        [having(Array.from({ length: 11 }, (_, n) => `${n}`)), `keyAttestation.${member} must have at most 10 entries`],
        [having(['x'.repeat(257)]), `keyAttestation.${member}.0 must have at most 256 characters`],
      ];
    }),
    [{ proofRootCertificates: [] }, 'proofRootCertificates must not be empty'],
    [{ proofRootCertificates: null }, 'proofRootCertificates must be an array'],
    [
      { proofRootCertificates: Array.from({ length: 11 }, (_, n) => `${n}`) },
      'proofRootCertificates must have at most 10 entries',
    ],
    [{ proofRootCertificates: ['pem', 'pem'] }, 'proofRootCertificates must not repeat an entry'],
  ])('%j is refused: %s [T380]', (changes, fault) => expect(faultsOfBoth(changes)).toEqual([[fault], [fault]]));
});

describe.each(['ldp_vc', 'cwt_vc'] as const)('the contexts of a configuration: %s', (format) =>
  it.each<[unknown, string]>([
    ['https://a.example/c', 'must be an array'],
    [Array.from({ length: 11 }, (_, n) => `https://a.example/${n}`), 'must have at most 10 entries'],
    [[1], 'must contain only strings'],
    [['https://a.example/c', null], 'must contain only strings'],
    [['https://a.example/white space'], ENTRY],
    [[''], ENTRY],
    [[`https://a.example/${'c'.repeat(1007)}`], TOO_LONG],
  ])('with %j are refused: %s', (contexts, msg) => {
    const { create, update } = CONFIGURATION_OPERATIONS[format];
    for (const operation of [create, update])
      expect(faultsOf(operation, { contexts })).toEqual([`contexts${msg === TOO_LONG ? '.0' : ''} ${msg}`]);
  }),
);

describe.each(['ldp_vc', 'jwt_vc_json'] as const)('the further types of a configuration: %s', (format) =>
  it.each<[unknown, string]>([
    ['Card', 'must be an array'],
    [Array.from({ length: 21 }, (_, n) => `Card${n}`), 'must have at most 20 entries'],
    [[1], 'must contain only strings'],
    [['white space'], ENTRY],
    [['c'.repeat(1025)], TOO_LONG],
  ])('with %j are refused: %s', (additionalTypes, msg) =>
    expect(faultsOf(CONFIGURATION_OPERATIONS[format].create, { additionalTypes })).toEqual([
      `additionalTypes${msg === TOO_LONG ? '.0' : ''} ${msg}`,
    ]),
  ),
);

describe('the request of a status list configuration', () => {
  it.each(['timeToLiveDuration', 'expiryDuration'])('has an object as %s', (name) => {
    for (const operation of [createStatusListConfiguration, updateStatusListConfiguration]) {
      for (const value of ['PT1H', 3600, null, []])
        expect(faultsOf(operation, { [name]: value })).toEqual([`${name} ${DURATION}`]);
      expect(faultsOf(operation, { [name]: undefined })).toEqual([`${name} is required`]);
      expect(faultsOf(operation, { [name]: { hours: 0.5 } })).toEqual([`${name}.hours must be an integer`]);
    }
  });

  it.each<[unknown, string]>([
    ['white space', TYPE],
    ['', TYPE],
    ['d'.repeat(1025), TYPE],
    [7, 'must be a string'],
    [undefined, 'is required'],
  ])('with the docType %j is refused: %s', (docType, msg) =>
    expect(faultsOf(createStatusListConfiguration, { docType })).toEqual([`docType ${msg}`]),
  );
});
