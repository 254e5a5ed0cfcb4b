import { IDENTIFIER_LIST_SIZE, identifierListClaims, listIdentifier } from './identifier-list.js';
import { INVALID, invalidStatuses, packedStatuses, setStatus, SUSPENDED } from './packed-statuses.js';

const uri = 'https://acme.example/v2/credentials/mobile/identifier-lists/1/token';
const listOf = (statuses: Uint8Array) => ({
  ...{ uri, statuses, size: IDENTIFIER_LIST_SIZE, bits: 2 as const, timeToLive: 300 },
  issuedAt: new Date('2026-01-01T00:00:00.700Z'),
  expiresAt: new Date('2026-01-01T01:00:00Z'),
});
const hexOf = (id: Uint8Array) => Buffer.from(id).toString('hex');
const idsOf = (statuses: Uint8Array): string[] => {
  const list: unknown = identifierListClaims(listOf(statuses)).get(65530);
  const { identifiers } = list as { identifiers: Map<Uint8Array, object> };
  for (const info of identifiers.values()) expect(info).toEqual({});
  return [...identifiers.keys()].map(hexOf);
};

describe('the identifier of a document', () => {
  it('has 16 bytes, and is that of one index of one list [T202]', () => {
    const indexes = Array.from({ length: IDENTIFIER_LIST_SIZE }, (_, index) => index);
    const ids = [uri, `${uri}2`].flatMap((of) => indexes.map((index) => hexOf(listIdentifier(of, index))));
    expect(new Set(ids).size).toBe(2 * IDENTIFIER_LIST_SIZE);
    expect(listIdentifier(uri, 0)).toHaveLength(16);
    // A released document keeps it.
    expect(hexOf(listIdentifier(uri, 7))).toBe('a95817e8a789fe34300272d03fd9c2ea');
  });
});

describe('an identifier list', () => {
  it('has the identifiers of suspended and invalid documents, and no others [T203]', () => {
    const statuses = packedStatuses(IDENTIFIER_LIST_SIZE, 2);
    expect(idsOf(statuses)).toEqual([]);
    setStatus(statuses, 2, 7, INVALID);
    setStatus(statuses, 2, IDENTIFIER_LIST_SIZE - 1, SUSPENDED);
    const expected = [7, IDENTIFIER_LIST_SIZE - 1].map((index) => hexOf(listIdentifier(uri, index)));
    expect(idsOf(statuses)).toEqual(expected);
    setStatus(statuses, 2, 7, 0);
    expect(idsOf(statuses)).toEqual(expected.slice(1));
  });

  it('has all identifiers while it is masked', () =>
    expect(idsOf(invalidStatuses(IDENTIFIER_LIST_SIZE, 2))).toHaveLength(IDENTIFIER_LIST_SIZE));

  it('has the claims of a status list token, and no status list', () => {
    const claims = identifierListClaims(listOf(packedStatuses(IDENTIFIER_LIST_SIZE, 2)));
    const iat = Date.parse('2026-01-01T00:00:00Z') / 1000;
    expect(Object.fromEntries(claims)).toEqual({
      ...{ 2: uri, 4: iat + 3600, 6: iat, 65534: 300 },
      65530: { identifiers: new Map() },
    });
  });
});
