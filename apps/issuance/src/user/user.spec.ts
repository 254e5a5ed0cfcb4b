import { given } from '@attestry/event-store';
import { checkUser, createUser, deleteUser, replaceUserClaims } from './user.decisions.js';
import type { UserEvent } from './user.events.js';
import { user } from './user.state.js';

const id = '11111111-1111-4111-8111-111111111111';
const at = '2026-01-01T00:00:00.000Z';
const created = { type: 'UserCreated', data: { userId: id, sealedClaims: 'v1.sealed', createdAt: at } } as UserEvent;
const deleted = { type: 'UserDeleted', data: { userId: id, destroyedKeys: [id] } } as UserEvent;

describe('user', () => {
  it('is created with sealed claims', () =>
    given(user, [])
      .when((state) => createUser(state, { userId: id, sealedClaims: 'v1.sealed', createdAt: new Date(at) }))
      .then([created]));

  it('has no member for claims it does not have', () =>
    given(user, [])
      .when((state) => createUser(state, { userId: id, createdAt: new Date(at) }))
      .then([{ type: 'UserCreated', data: { userId: id, createdAt: at } }]));

  it('replaces claims as long as it is there', () => {
    given(user, [created])
      .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.other' }))
      .thenState({ status: 'active', id, sealedClaims: 'v1.other', createdAt: at });
    given(user, [created, deleted])
      .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.other' }))
      .thenThrows('NotFound');
  });

  it('is deleted once', () => {
    given(user, [created])
      .when((state) => deleteUser(state, { destroyedKeys: [id] }))
      .then([deleted]);
    given(user, [created, deleted])
      .when((state) => deleteUser(state, { destroyedKeys: [id] }))
      .thenThrows('NotFound');
    given(user, [])
      .when((state) => deleteUser(state, { destroyedKeys: [id] }))
      .thenThrows('NotFound');
  });

  it('keeps to 64 KiB of claims and to what is supported', () => {
    expect(() => checkUser({}, 65_536)).not.toThrow();
    expect(() => checkUser({ claims: { secret: 'canary' } }, 65_537)).toThrow(
      expect.objectContaining({
        details: [{ msg: 'must be at most 64 KiB of JSON', param: 'claims', location: 'body' }],
      }),
    );
    expect(() => checkUser({ authenticationProvider: {} }, 2)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ param: 'authenticationProvider' })] }),
    );
  });
});
