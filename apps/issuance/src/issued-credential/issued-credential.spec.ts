import { given } from '@attestry/event-store';
import { recordCredential } from './issued-credential.decisions.js';
import type { CredentialRecordedData, IssuedCredentialEvent } from './issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from './issued-credential.state.js';

const data = { credentialId: 'c1', sessionId: 's1', userId: 'u1' } as CredentialRecordedData;
const document = { keyId: 'k1', sealed: 'v1.k1.x.y' };
const recorded: IssuedCredentialEvent = { type: 'CredentialRecorded', data };
const withDocument: IssuedCredentialEvent = { type: 'CredentialRecorded', data: { ...data, document } };

describe('an issued credential', () => {
  it('is recorded once, in a stream of its own', () => {
    given(issuedCredential, [])
      .when((state) => recordCredential(state, data))
      .then([recorded]);
    given(issuedCredential, [recorded])
      .when((state) => recordCredential(state, data))
      .thenThrows('Conflict');
    expect(issuedCredentialStream('t1', 'c1')).toBe('credential-t1+c1');
  });

  it('keeps its facts in its state, and of its document the key', () => {
    given(issuedCredential, [recorded])
      .when(() => [])
      .thenState({ status: 'recorded', ...data });
    given(issuedCredential, [withDocument])
      .when(() => [])
      .thenState({ status: 'recorded', ...data, documentKeyId: 'k1' });
  });
});
