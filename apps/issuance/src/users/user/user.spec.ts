import { given, stateAfter } from '@attestry/event-store';
import {
  checkUser,
  createUser,
  deleteUser,
  expireUser,
  keepUser,
  replaceUserClaims,
  signIn,
  type ActiveUser,
  type SignIn,
} from './user.decisions.js';
import type { UserEvent } from './user.events.js';
import { user, type UserState } from './user.state.js';

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

  it('replaces claims until it is deleted', () => {
    given(user, [created])
      .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.other' }))
      .thenState({ status: 'active', id, sealedClaims: 'v1.other', createdAt: at });
    given(user, [created, deleted])
      .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.other' }))
      .thenThrows('NotFound');
  });

  it('keeps the link to the provider when its claims are replaced, also by none', () => {
    const linked = { type: 'UserLinked', data: { sealedLink: 'v1.link' } } as UserEvent;
    for (const events of [
      [created, linked],
      [{ type: 'UserCreated', data: { userId: id, createdAt: at } } as UserEvent, linked],
    ])
      given(user, events)
        .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.none' }))
        .thenState({ status: 'active', id, sealedClaims: 'v1.none', sealedLink: 'v1.link', createdAt: at });
    given(user, [])
      .when((state) => replaceUserClaims(state, { sealedClaims: 'v1.other' }))
      .thenThrows('NotFound');
  });

  describe('that began with an offer', () => {
    const begun: ActiveUser = { status: 'active', id, createdAt: at, fromOffer: true };
    const bare = { type: 'UserCreated', data: { userId: id, createdAt: at } } as UserEvent;
    const replaced = { type: 'UserClaimsReplaced', data: { sealedClaims: 'v1.other' } } as UserEvent;
    const expired = { type: 'UserExpired', data: { userId: id } } as UserEvent;

    it('is created with its first change', () => {
      expect(replaceUserClaims(begun, { sealedClaims: 'v1.other' })).toEqual([bare, replaced]);
      expect(deleteUser(begun, { destroyedKeys: [id] })).toEqual([bare, deleted]);
      expect(stateAfter(user, [bare, replaced])).toEqual({
        ...{ status: 'active', id, createdAt: at },
        sealedClaims: 'v1.other',
      });
    });

    it('is created when another offer names it, once', () => {
      expect(keepUser(begun)).toEqual([bare]);
      given(user, [bare]).when(keepUser).then([]);
      given(user, [bare, deleted]).when(keepUser).thenThrows('NotFound');
    });

    it('expires only without events of its own, and once', () => {
      const expire = (state: UserState) => expireUser(state, id);
      given(user, []).when(expire).then([expired]);
      for (const events of [[bare], [created], [bare, deleted], [expired]]) given(user, events).when(expire).then([]);
      expect(stateAfter(user, [expired])).toEqual({ status: 'expired' });
      expect(stateAfter(user, [bare, expired])).toMatchObject({ status: 'active' });
    });

    it('is not found once it has expired, and does not sign in', () => {
      for (const change of [keepUser, (state: UserState) => replaceUserClaims(state, { sealedClaims: 'x' })])
        given(user, [expired]).when(change).thenThrows('NotFound');
      expect(signIn({ status: 'expired' }, { userId: id, signedInAt: new Date(at) })).toEqual([]);
    });
  });

  describe('that signs in', () => {
    const linked = { type: 'UserLinked', data: { sealedLink: 'v1.link' } } as UserEvent;
    const sign = (more: Partial<SignIn>) => (state: UserState) =>
      signIn(state, { userId: id, signedInAt: new Date(at), ...more });

    it('is created with its new claims', () =>
      given(user, [])
        .when(sign({ sealedLink: 'v1.link', sealedClaims: 'v1.sealed' }))
        .then([created, linked]));

    it('gets only changed claims', () => {
      given(user, [created, linked]).when(sign({})).then([]);
      given(user, [created])
        .when(sign({ sealedLink: 'v1.link', sealedClaims: 'v1.other' }))
        .thenState({
          ...{ status: 'active', id, createdAt: at },
          ...{ sealedClaims: 'v1.other', sealedLink: 'v1.link' },
        });
    });

    it('does not exist any more once deleted', () =>
      given(user, [created, linked, deleted])
        .when(sign({ sealedLink: 'v1.link', sealedClaims: 'v1.sealed' }))
        .then([]));
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

  it('accepts at most 384 KiB of claims, and only supported members', () => {
    expect(() => checkUser({}, 384 * 1024)).not.toThrow();
    expect(() => checkUser({ claims: { secret: 'canary' } }, 384 * 1024 + 1)).toThrow(
      expect.objectContaining({
        details: [{ msg: 'must be at most 384 KiB of JSON', param: 'claims', location: 'body' }],
      }),
    );
    expect(() => checkUser({ authenticationProvider: {} }, 2)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ param: 'authenticationProvider' })] }),
    );
  });
});

describe('a user that cannot be created', () => {
  it('has an authentication provider other than null', () => {
    expect(() => checkUser({ authenticationProvider: null }, 2)).not.toThrow();
    expect(() => checkUser({ authenticationProvider: {} }, 2)).toThrow(
      expect.objectContaining({
        details: [
          {
            msg: 'is read-only; it is set when the user signs in with the provider',
            param: 'authenticationProvider',
            location: 'body',
          },
        ],
      }),
    );
  });

  it('exists already', () =>
    expect(() => createUser(stateAfter(user, [created]), { userId: id, createdAt: new Date(at) })).toThrow(
      `user ${id} exists already`,
    ));
});
