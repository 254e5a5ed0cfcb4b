import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { planIssuance, type IssuanceFacts } from './plan-issuance.decisions.js';

const now = new Date('2026-05-01T10:00:00Z');
const validFrom = new Date('2026-05-02T00:00:00Z');
const holderKey = { kty: 'EC', crv: 'P-256', x: 'x1', y: 'y1' } as const;
const session = {
  id: 's1',
  userId: 'u1',
  issuer: 'https://acme.example',
  origin: { kind: 'preAuthorizedOffer', sealedDocument: '' },
} as unknown as RedeemedSession;
const configuration = {
  id: 'c1',
  format: 'jwt_vc_json',
  type: 'Course',
  version: 3,
  content: {},
  issuerKey: { did: 'did:web:acme.example', verificationMethod: 'did:web:acme.example#k1', kmsKeyId: 'k1' },
} as unknown as ActiveConfiguration;
const { issuerKey: _, ...unpinned } = configuration;

const plan = (given: Partial<IssuanceFacts> = {}, order: Partial<IssuanceFacts['order']> = {}) =>
  planIssuance({
    order: { session, configuration, tokenId: 't1', now, ...order },
    answerId: 'a1',
    profile: 'compact',
    signerCertificate: undefined,
    unsigned: [{ credentialId: 'v1', holderKey, validFrom }],
    statuses: [],
    documents: [],
    ...given,
  });

const SHARED = {
  answerId: 'a1',
  sessionId: 's1',
  offerId: 's1',
  userId: 'u1',
  issuer: 'https://acme.example',
  format: 'jwt_vc_json',
  profile: 'compact',
  credentialType: 'Course',
  credentialConfigurationId: 'c1',
  holderKey,
  issuedAt: '2026-05-01T10:00:00.000Z',
  validFrom: '2026-05-02T00:00:00.000Z',
};
const RECORDED = {
  ...SHARED,
  issuerDid: 'did:web:acme.example',
  verificationMethod: 'did:web:acme.example#k1',
  configurationVersion: 3,
  tokenId: 't1',
};

describe('the plan of an answer', () => {
  it('has an event of the session and a record for one credential', () => {
    expect(plan()).toEqual({
      credentialIds: ['v1'],
      issued: [{ type: 'CredentialIssued', data: { credentialId: 'v1', ...SHARED } }],
      recorded: [{ credentialId: 'v1', ...RECORDED }],
    });
  });

  it('copies the key of the holder', () => {
    const { issued, recorded } = plan();
    expect(issued[0]!.data.holderKey).not.toBe(holderKey);
    expect(recorded[0]!.holderKey).not.toBe(holderKey);
  });

  it('has them for each credential in the order of the holders, with its own status and document', () => {
    const validUntil = new Date('2027-05-02T00:00:00Z');
    const digests = { algorithm: 'SHA-256', values: ['d'] } as never;
    const otherKey = { ...holderKey, x: 'x2' };
    const made = plan({
      unsigned: [
        { credentialId: 'v1', holderKey, validFrom },
        { credentialId: 'v2', holderKey: otherKey, validFrom, validUntil, digests },
      ],
      statuses: [
        { listId: 'l1', index: 7 },
        { listId: 'l2', index: 0 },
      ],
      documents: [
        { keyId: 'k1', sealed: 'sealed 1' },
        { keyId: 'k2', sealed: 'sealed 2' },
      ],
    });
    const second = { holderKey: otherKey, validUntil: '2027-05-02T00:00:00.000Z', status: { listId: 'l2', index: 0 } };
    expect(made).toEqual({
      credentialIds: ['v1', 'v2'],
      issued: [
        {
          type: 'CredentialIssued',
          data: { credentialId: 'v1', ...SHARED, status: { listId: 'l1', index: 7 }, documentKeyId: 'k1' },
        },
        { type: 'CredentialIssued', data: { credentialId: 'v2', ...SHARED, ...second, digests, documentKeyId: 'k2' } },
      ],
      // The digests are in the event of the session alone.
      recorded: [
        {
          credentialId: 'v1',
          ...RECORDED,
          status: { listId: 'l1', index: 7 },
          document: { keyId: 'k1', sealed: 'sealed 1' },
        },
        { credentialId: 'v2', ...RECORDED, ...second, document: { keyId: 'k2', sealed: 'sealed 2' } },
      ],
    });
  });

  it('stores nothing else of statuses and documents', () => {
    const status = { listId: 'l1', index: 7, uri: 'https://acme.example/l1', series: {} };
    const document = { keyId: 'k1', sealed: 'sealed', newKey: {} };
    const { issued, recorded } = plan({ statuses: [status], documents: [document] });
    expect(issued[0]!.data.status).toEqual({ listId: 'l1', index: 7 });
    expect(recorded[0]).toMatchObject({ status: { listId: 'l1', index: 7 } });
    expect(recorded[0]!.document).toEqual({ keyId: 'k1', sealed: 'sealed' });
  });

  it('names the certificate that signs, and then no verification method', () => {
    const [ofDid] = plan({ signerCertificate: 'f1' }).recorded;
    expect(ofDid).toMatchObject({ signerCertificate: 'f1', issuerDid: 'did:web:acme.example' });
    expect(ofDid).not.toHaveProperty('verificationMethod');
    const [ofCertificate] = plan(
      { signerCertificate: 'f1' },
      { configuration: unpinned as ActiveConfiguration },
    ).recorded;
    expect(ofCertificate).toMatchObject({ signerCertificate: 'f1' });
    expect(ofCertificate).not.toHaveProperty('issuerDid');
  });

  it.each([
    [{ offerId: 'o1' }, 'o1'],
    [{}, undefined],
  ])('names the offer of an authorization request %j', (of, offerId) => {
    const origin = { kind: 'authorizationRequest', clientId: 'wallet', ...of } as unknown as RedeemedSession['origin'];
    const { issued, recorded } = plan({}, { session: { ...session, origin } });
    for (const { offerId: found } of [issued[0]!.data, recorded[0]!]) expect(found).toBe(offerId);
    expect('offerId' in issued[0]!.data).toBe(offerId !== undefined);
  });
});
