import { createSign, generateKeyPairSync, verify } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { getListFromStatusListJWT, getStatusListFromJWT } from '@sd-jwt/jwt-status-list';
import fc from 'fast-check';
import { LIST_SIZE, packedStatuses, setStatus, statusAt, type StatusBits } from './packed-statuses.js';
import {
  CWT_STATUS_CLAIM,
  STATUS_LIST_CWT_TYPE,
  STATUS_LIST_JWT_TYPE,
  statusListCwtClaims,
  statusListJwtClaims,
  tokenStatus,
  type UnsignedTokenStatusList,
} from './token-status-list.js';

const uri = 'https://acme.example/status-lists/1';
const times = {
  issuedAt: new Date('2026-01-01T00:00:00.700Z'),
  expiresAt: new Date('2026-01-02T00:00:00Z'),
  timeToLive: 300,
};
const listOf = (
  bits: StatusBits,
  size: number,
  statuses: readonly (readonly [number, number])[],
): UnsignedTokenStatusList => {
  const packed = packedStatuses(size, bits);
  for (const [index, status] of statuses) setStatus(packed, bits, index, status);
  return { uri, bits, statuses: packed, ...times };
};
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = async (list: UnsignedTokenStatusList): Promise<string> => {
  const input = `${encoded({ alg: 'ES256', typ: STATUS_LIST_JWT_TYPE })}.${encoded(await statusListJwtClaims(list))}`;
  const signature = createSign('sha256').update(input).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
};

/** Token Status List, Appendix: lists of 2^20 entries. */
const vectors: [StatusBits, [number, number][], string][] = [
  [
    1,
    [0, 1993, 25460, 159495, 495669, 554353, 645645, 723232, 854545, 934534, 1000345].map((index) => [index, 1]),
    'eNrt3AENwCAMAEGogklACtKQPg9LugC9k_ACvreiogEAAKkeCQAAAAAAAAAAAAAAAAAAAIBylgQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAXG9IAAAAAAAAAPwsJAAAAAAAAAAAAAAAvhsSAAAAAAAAAAAA7KpLAAAAAAAAAAAAAAAAAAAAAJsLCQAAAAAAAAAAADjelAAAAAAAAAAAKjDMAQAA' +
      'AACAZC8L2AEb',
  ],
  [
    2,
    [
      [0, 1],
      [1993, 2],
      [25460, 1],
      [159495, 3],
      [495669, 1],
      [554353, 1],
      [645645, 2],
      [723232, 1],
      [854545, 1],
      [934534, 2],
      [1000345, 3],
    ],
    'eNrt2zENACEQAEEuoaBABP5VIO01fCjIHTMStt9ovGVIAAAAAABAbiEBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEB5WwIAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAID0ugQAAAAAAAAAAAAAAAAAQG12SgAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAOCSIQEAAAAAAAAAAAAAAAAAAAAAAAD8ExIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwJEuAQAAAAAAAAAAAAAA' +
      'AAAAAAAAAMB9SwIAAAAAAAAAAAAAAAAAAACoYUoAAAAAAAAAAAAAAEBqH81gAQw',
  ],
  [
    4,
    [
      [0, 1],
      [1993, 2],
      [35460, 3],
      [459495, 4],
      [595669, 5],
      [754353, 6],
      [845645, 7],
      [923232, 8],
      [924445, 9],
      [934534, 10],
      [1004534, 11],
      [1000345, 12],
      [1030203, 13],
      [1030204, 14],
      [1030205, 15],
    ],
    'eNrt0EENgDAQADAIHwImkIIEJEwCUpCEBBQRHOy35Li1EjoOQGabAgAAAAAAAAAAAAAAAAAAACC1SQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABADrsCAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADoxaEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIIoCgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAACArpwKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGhqVkAzlwIAAAAAiGVRAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAABx3AoAgLpVAQAAAAAAAAAAAAAAwM89rwMAAAAAAAAAAAjsA9xMBMA',
  ],
];

describe('a Token Status List', () => {
  it.each(vectors)('encodes the test vector of %i bits', async (bits, statuses, lst) => {
    const { status_list: list } = await statusListJwtClaims(listOf(bits, 2 ** 20, statuses));
    expect(list.bits).toBe(bits);
    const bytes = (text: string) => inflateSync(Buffer.from(text, 'base64url'));
    expect(bytes(list.lst).equals(bytes(lst))).toBe(true);
    expect(list.lst.length).toBeLessThan(lst.length * 1.3);
  });

  it('is read as JWT by an independent library', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom<StatusBits>(1, 2, 4, 8),
        fc.uniqueArray(fc.tuple(fc.nat(1023), fc.integer({ min: 1, max: 255 })), { selector: ([index]) => index }),
        async (bits, changes) => {
          const statuses = changes.map(([index, status]) => [index, status % 2 ** bits] as const);
          const read = getListFromStatusListJWT(await signed(listOf(bits, 1024, statuses)));
          expect(read.getBitsPerStatus()).toBe(bits);
          for (const [index, status] of statuses) expect(read.getStatus(index)).toBe(status);
          expect(read.statusList.filter((status) => status !== 0)).toHaveLength(
            statuses.filter(([, status]) => status !== 0).length,
          );
        },
      ),
      { numRuns: 30 },
    ));

  it('has the claims of the JWT, in whole seconds', async () => {
    const jwt = await signed(listOf(2, LIST_SIZE, [[5, 2]]));
    const [header = '', payload = '', signature = ''] = jwt.split('.');
    const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(`${header}.${payload}`), options, Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'ES256', typ: 'statuslist+jwt' });
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      sub: uri,
      iat: 1767225600,
      exp: 1767312000,
      ttl: 300,
      status_list: { bits: 2, lst: expect.any(String) as string },
    });
  });

  it('has the claims of the CWT by number, with the compressed bytes', async () => {
    const list = listOf(2, LIST_SIZE, [[5, 2]]);
    const claims = await statusListCwtClaims(list);
    expect([...claims.keys()]).toEqual([2, 4, 6, 65533, 65534]);
    expect([...claims.values()]).toEqual([
      uri,
      1767312000,
      1767225600,
      { bits: 2, lst: expect.any(Uint8Array) as Uint8Array },
      300,
    ]);
    const { lst } = claims.get(65533) as { lst: Uint8Array };
    expect(statusAt(inflateSync(lst), 2, 5)).toBe(2);
    expect(STATUS_LIST_CWT_TYPE).toBe('application/statuslist+cwt');
  });

  it('names the document with all lists, if there is one', async () => {
    const aggregationUri = 'https://acme.example/status-lists';
    const list = { ...listOf(2, 16, []), aggregationUri };
    expect((await statusListJwtClaims(list)).status_list.aggregation_uri).toBe(aggregationUri);
    expect((await statusListCwtClaims(list)).get(65533)).toMatchObject({ aggregation_uri: aggregationUri });
    expect((await statusListJwtClaims(listOf(2, 16, []))).status_list).not.toHaveProperty('aggregation_uri');
  });

  it('is referred to by index and address', () => {
    const status = tokenStatus({ uri, index: 7 });
    expect(status).toEqual({ status_list: { idx: 7, uri } });
    expect(getStatusListFromJWT(`${encoded({})}.${encoded({ status })}.`)).toEqual({ idx: 7, uri });
    expect(CWT_STATUS_CLAIM).toBe(65535);
  });
});
