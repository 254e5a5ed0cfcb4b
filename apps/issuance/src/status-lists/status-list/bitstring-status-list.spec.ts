import { gunzipSync } from 'node:zlib';
import * as bitstring from '@digitalbazaar/vc-bitstring-status-list';
import * as revocationList from '@digitalbazaar/vc-revocation-list';
import { INVALID, LIST_SIZE, packedStatuses, setStatus } from './packed-statuses.js';
import {
  bitstringStatus,
  bitstringStatusListCredential,
  revocationList2020Credential,
  revocationList2020Status,
  type UnsignedRevocationList,
} from './bitstring-status-list.js';

const uri = 'https://acme.example/status-lists/1';
const issuer = 'did:web:acme.example';
const revoked = [0, 7, 8, 94_567, LIST_SIZE - 1];
const notRevoked = [1, 6, 9, 94_566, 94_568, LIST_SIZE - 2];
const statuses = packedStatuses(LIST_SIZE, 1);
for (const index of revoked) setStatus(statuses, 1, index, INVALID);
const list: UnsignedRevocationList = {
  uri,
  issuer,
  timeToLive: 300,
  statuses,
  issuedAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: new Date('2026-01-02T00:00:00Z'),
};
const loaderOf = (document: object) => (url: string) => {
  if (url !== uri) throw new Error(`unknown document ${url}`);
  return Promise.resolve({ contextUrl: null, documentUrl: url, document });
};

describe('a bitstring status list', () => {
  const isRevoked = async (index: number, of = list) => {
    const credential = {
      '@context': ['https://www.w3.org/ns/credentials/v2'],
      issuer,
      credentialStatus: bitstringStatus({ uri, index }),
    };
    const documentLoader = loaderOf(await bitstringStatusListCredential(of));
    const checked = await bitstring.checkStatus({
      credential,
      documentLoader,
      verifyBitstringStatusListCredential: false,
    });
    if (checked.error) throw checked.error;
    return checked.results[0]!.status;
  };

  it.each(revoked)('shows an independent library that %i is revoked', async (index) =>
    expect(await isRevoked(index)).toBe(true),
  );
  it.each(notRevoked)('shows an independent library that %i is not revoked', async (index) =>
    expect(await isRevoked(index)).toBe(false),
  );

  it('is refused by it under another issuer', () =>
    expect(isRevoked(0, { ...list, issuer: 'did:web:other.example' })).rejects.toThrow('do not match'));

  it('has the members of Bitstring Status List 1.0', async () => {
    const { credentialSubject, ...credential } = await bitstringStatusListCredential(list);
    expect(credential).toEqual({
      '@context': ['https://www.w3.org/ns/credentials/v2'],
      id: uri,
      type: ['VerifiableCredential', 'BitstringStatusListCredential'],
      issuer,
      validFrom: '2026-01-01T00:00:00Z',
      validUntil: '2026-01-02T00:00:00Z',
    });
    const { encodedList, ...subject } = credentialSubject;
    expect(subject).toEqual({
      ...{ id: `${uri}#list`, type: 'BitstringStatusList', statusPurpose: 'revocation' },
      ttl: 300_000,
    });
    expect(encodedList).toMatch(/^u[\w-]+$/);
    const bytes = gunzipSync(Buffer.from(encodedList.slice(1), 'base64url'));
    expect(bytes).toHaveLength(16_384);
    expect([bytes[0], bytes[1], bytes.at(-1)]).toEqual([0b10000001, 0b10000000, 0b00000001]);
  });

  it('is referred to with the index as text', () =>
    expect(bitstringStatus({ uri, index: 94_567 })).toEqual({
      id: `${uri}#94567`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: '94567',
      statusListCredential: uri,
    }));
});

describe('a list of RevocationList2020', () => {
  const isVerified = async (index: number) => {
    const credential = {
      '@context': ['https://www.w3.org/2018/credentials/v1', 'https://w3id.org/vc-revocation-list-2020/v1'],
      issuer: { id: issuer },
      credentialStatus: revocationList2020Status({ uri, index }),
    };
    const documentLoader = loaderOf(await revocationList2020Credential(list));
    const checked = await revocationList.checkStatus({
      credential,
      documentLoader,
      verifyRevocationListCredential: false,
    });
    if (checked.error) throw checked.error;
    return checked.verified;
  };

  it.each(revoked)('makes an independent library refuse %i', async (index) =>
    expect(await isVerified(index)).toBe(false),
  );
  it.each(notRevoked)('makes an independent library accept %i', async (index) =>
    expect(await isVerified(index)).toBe(true),
  );

  it('has the members of VC Data Model 1.1', async () => {
    const { credentialSubject, ...credential } = await revocationList2020Credential(list);
    expect(credential).toEqual({
      '@context': ['https://www.w3.org/2018/credentials/v1', 'https://w3id.org/vc-revocation-list-2020/v1'],
      id: uri,
      type: ['VerifiableCredential', 'RevocationList2020Credential'],
      issuer,
      issuanceDate: '2026-01-01T00:00:00Z',
      expirationDate: '2026-01-02T00:00:00Z',
    });
    expect(credentialSubject).toEqual({
      id: `${uri}#list`,
      type: 'RevocationList2020',
      encodedList: (await bitstringStatusListCredential(list)).credentialSubject.encodedList.slice(1),
    });
    expect(revocationList2020Status({ uri, index: 5 })).toEqual({
      id: `${uri}#5`,
      type: 'RevocationList2020Status',
      revocationListIndex: '5',
      revocationListCredential: uri,
    });
  });
});
