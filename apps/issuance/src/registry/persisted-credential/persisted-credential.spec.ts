import { given } from '@attestry/event-store';
import { erasePersistedCredential, persistCredential } from './persisted-credential.decisions.js';
import type { PersistedCredentialEvent } from './persisted-credential.events.js';
import { persistedCredential, persistedCredentialStream } from './persisted-credential.state.js';

const data = { credentialId: 'c1', userId: 'u1', sealed: 'v1.c1.x.y' };
const kept = { type: 'CredentialPersisted', data } as PersistedCredentialEvent;
const erased: PersistedCredentialEvent = {
  type: 'PersistedCredentialErased',
  data: { credentialId: 'c1', destroyedKeys: ['c1'] },
};

describe('a persisted credential', () => {
  it('is kept once, in a stream of its own', () => {
    given(persistedCredential, [])
      .when((state) => persistCredential(state, data))
      .then([kept]);
    for (const history of [[kept], [kept, erased]])
      given(persistedCredential, history)
        .when((state) => persistCredential(state, data))
        .thenThrows('Conflict');
    expect(persistedCredentialStream('t1', 'c1')).toBe('persistedCredential-t1+c1');
  });

  it('is not part of its state', () =>
    given(persistedCredential, [kept])
      .when(() => [])
      .thenState({ status: 'kept', credentialId: 'c1' }));

  it('is erased once, and the event names its key', () => {
    given(persistedCredential, [kept]).when(erasePersistedCredential).then([erased]);
    given(persistedCredential, [kept, erased]).when(erasePersistedCredential).then([]);
    given(persistedCredential, [kept, erased]).thenState({ status: 'erased' });
    given(persistedCredential, []).when(erasePersistedCredential).then([]);
  });
});
