import { given, stateAfter } from '@attestry/event-store';
import { inviteUser, nameUser, registerUser, takeEmail } from './management-user.decisions.js';
import type { ManagementUserEvent } from './management-user.events.js';
import { managementUser, managementUserStream, type ManagementUserState } from './management-user.state.js';

const now = '2026-03-01T10:00:00.000Z';
const userId = 'u1';
const invited = {
  type: 'ManagementUserInvited',
  data: { userId, sealedEmail: 'e1', invitedAt: now },
} as ManagementUserEvent;
const registeredAs = (identity: string, sealed: object = {}): ManagementUserEvent => ({
  type: 'ManagementUserRegistered',
  data: { userId, identity, ...sealed, registeredAt: now },
});
const register = (identity: string) => (state: ManagementUserState) =>
  registerUser(state, { userId, identity }, { now });

describe('a user of the management API', () => {
  it('is created by an invitation, once', () => {
    const invite = (state: ManagementUserState) => inviteUser(state, { userId, sealedEmail: 'e1' }, { now });
    given(managementUser, []).when(invite).then([invited]);
    given(managementUser, [invited]).when(invite).then([]);
    given(managementUser, [registeredAs('i')])
      .when(invite)
      .then([]);
    expect(managementUserStream(userId)).toBe('managementUser-u1');
  });

  it('registers once, as one identity, and keeps the e-mail of the invitation', () => {
    given(managementUser, [])
      .when(register('i'))
      .then([registeredAs('i')]);
    given(managementUser, [invited])
      .when(register('i'))
      .thenState({ status: 'registered', id: userId, identity: 'i', sealedEmail: 'e1' });
    given(managementUser, [registeredAs('i')])
      .when(register('i'))
      .then([]);
    given(managementUser, [registeredAs('i')])
      .when(register('j'))
      .thenThrows('Conflict');
    given(managementUser, [invited, registeredAs('i', { sealedEmail: 'e2', sealedName: 'n' })]).thenState({
      status: 'registered',
      id: userId,
      identity: 'i',
      sealedEmail: 'e2',
      sealedName: 'n',
    });
  });

  it('changes name and e-mail once registered', () => {
    const name = (state: ManagementUserState) => nameUser(state, { sealedName: 'n2' });
    const email = (state: ManagementUserState) => takeEmail(state, { sealedEmail: 'e2' });
    given(managementUser, [registeredAs('i')])
      .when(name)
      .thenState({ status: 'registered', id: userId, identity: 'i', sealedName: 'n2' });
    given(managementUser, [registeredAs('i', { sealedEmail: 'e1' })])
      .when(email)
      .then([{ type: 'ManagementUserEmailChanged', data: { userId, sealedEmail: 'e2' } }]);
    for (const history of [[], [invited]])
      for (const change of [name, email]) given(managementUser, history).when(change).thenThrows('Forbidden');
  });
});

describe('refusals of a user of the management API', () => {
  it('say that the identity is another one, or that the user is not registered', () => {
    expect(() => register('j')(stateAfter(managementUser, [registeredAs('i')]))).toThrow(
      'The user has another identity',
    );
    expect(() => nameUser(stateAfter(managementUser, [invited]), { sealedName: 'n' })).toThrow(
      'The caller is not a registered user',
    );
  });
});
