import { invitationToken, parseInvitationToken } from './invitation-token.js';

const token = {
  tenantId: 'aaaaaaaa-1111-4111-8111-111111111111',
  userId: 'bbbbbbbb-1111-4111-8111-111111111111',
  invitationId: 'cccccccc-1111-4111-8111-111111111111',
  secret: 'A'.repeat(43),
};

describe('the token of an invitation', () => {
  it('is read as it was given out', () => {
    expect(parseInvitationToken(invitationToken(token))).toEqual(token);
  });

  it.each(['tenantId', 'userId', 'invitationId'] as const)('with %s in another case is none', (member) => {
    expect(parseInvitationToken(invitationToken({ ...token, [member]: token[member].toUpperCase() }))).toBeUndefined();
  });
});
