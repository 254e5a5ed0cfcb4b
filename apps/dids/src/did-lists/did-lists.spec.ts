import { projected } from '@attestry/testing';
import { didLists, type DidListTables } from './did-lists.projection.js';

const given = projected(didLists);
const registered = Date.UTC(2026, 2, 1);
const of = { id: 'did:web:a', eventId: 'e1' };
const key = { algorithm: 'P-256', purposes: ['assertionMethod'] } as const;
const created = (
  ...keys: { algorithm: 'P-256' | 'Ed25519'; purposes: readonly ('assertionMethod' | 'authentication')[] }[]
) =>
  ({
    type: 'DidCreated',
    data: {
      registered,
      document: { id: 'did:web:a' },
      keys: keys.map(({ algorithm, purposes }) => ({
        didDocumentKeyId: 'k',
        kmsKeyId: 'v',
        algorithm,
        purposes: [...purposes],
      })),
    },
    of,
  }) as const;
const row: DidListTables['did'] = {
  tenant_id: 't1',
  did: 'did:web:a',
  id: 'e1',
  created_at: '2026-03-01T00:00:00.000Z',
  registered,
  keys: JSON.stringify(created(key).data.keys),
  document: '{"id":"did:web:a"}',
  signs_p256: 1,
  signs_ed25519: 0,
};
const reserved = (configurationId: string) => ({ type: 'DidReserved', data: { configurationId }, of }) as const;
const released = (configurationId: string) => ({ type: 'DidReleased', data: { configurationId }, of }) as const;

describe('the list of DIDs', () => {
  it('has each with the keys that can sign credentials', () => {
    given(created(key)).expectRows({ did: [row] });
    const others = given(
      created({ algorithm: 'P-256', purposes: ['authentication'] }, { ...key, algorithm: 'Ed25519' }),
    ).rows.did;
    expect(others).toMatchObject([{ signs_p256: 0, signs_ed25519: 1 }]);
  });

  it('has the newest document', () => {
    const updated = { type: 'DidDocumentUpdated', data: { document: { id: 'new' } }, of } as const;
    given(created(key), updated).expectRows({ did: [{ ...row, document: '{"id":"new"}' }] });
    given(updated).expectRows({});
  });

  it('has which configurations hold a DID', () => {
    const reservation = { tenant_id: 't1', did: 'did:web:a', configuration_id: 'c2' };
    given(created(key), reserved('c1'), reserved('c2'), reserved('c2'), released('c1'), released('c3')).expectRows({
      did: [row],
      did_reservation: [reservation],
    });
  });

  it('has a DID until its deletion begins', () => {
    const started = { type: 'DidDeletionStarted', data: {}, of } as const;
    given(created(key), started, { type: 'DidDeleted', data: {}, of }).expectRows({});
  });
});
