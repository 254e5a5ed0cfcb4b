import { sdJwtStatus } from './issuance/formats.js';
import { retrieveUser } from './issuance/users.js';
import { recordedMetadata, recordedObject } from './record-of-call.js';

describe('the object of a call', () => {
  const objectOf = (id: string) =>
    recordedObject(retrieveUser, { caller: { kind: 'client', clientId: 'c1' } } as never, { params: { id } });
  const ID = '11111111-1111-4111-8111-11111111111a';

  it('is named by its id, a UUID in lower case', () => {
    expect(objectOf(ID.toUpperCase())).toEqual({ type: 'user', id: ID });
    expect(objectOf('did:web:acme.example%3A8443:dids:1')).toEqual({
      type: 'user',
      id: 'did:web:acme.example%3A8443:dids:1',
    });
  });

  it.each(['alice@example.com', 'Alice Example', '', 'a'.repeat(2049)])(
    'has no id that a caller made up: %s',
    (value) => {
      expect(objectOf(value)).toBeUndefined();
    },
  );
});

describe('the metadata of a call', () => {
  it('are the members of its event that the operation declares, without those that are absent', () => {
    const event = { userId: 'u1', credentialConfigurationId: 'g1', status: 'invalid', listId: 'l1' };
    const metadata = { userId: 'u1', credentialConfigurationId: 'g1', status: 'invalid' };
    expect(recordedMetadata(sdJwtStatus.set, event)).toEqual(metadata);
    expect(recordedMetadata(sdJwtStatus.set, { ...event, reason: 'r' })).toEqual({ ...metadata, reason: 'r' });
    expect(recordedMetadata(retrieveUser, event)).toBeUndefined();
  });
});
