import { createHmac } from 'node:crypto';
import { invitationToken, isAuthentic, parseInvitationToken, type InvitationToken } from './invitation-token.js';

const token = {
  tenantId: 'aaaaaaaa-1111-4111-8111-111111111111',
  userId: 'bbbbbbbb-1111-4111-8111-111111111111',
  invitationId: 'cccccccc-1111-4111-8111-111111111111',
  secret: 'A'.repeat(43),
};
const hmac = (text: string, context = '') => createHmac('sha256', `${context}:key`).update(text).digest('base64url');
const macs = {
  mac: (text: string, context?: string) => ({ pepper: 'p1', mac: hmac(text, context) }),
  verifyMac: (text: string, { mac }: { mac: string }, context?: string) => mac === hmac(text, context),
};
const sealed = (changed: Partial<InvitationToken> = {}) =>
  parseInvitationToken(invitationToken(macs, { ...token, ...changed }));

describe('the token of an invitation', () => {
  it('is parsed as it was issued', () => {
    const { seal, ...rest } = sealed()!;
    expect(rest).toEqual(token);
    expect(isAuthentic(macs, { ...rest, ...(seal && { seal }) })).toBe(true);
  });

  it.each(['tenantId', 'userId', 'invitationId'] as const)('with %s in another case is refused', (member) => {
    expect(sealed({ [member]: token[member].toUpperCase() })).toBeUndefined();
  });

  it.each([
    ['tenantId', 'dddddddd-1111-4111-8111-111111111111'],
    ['userId', 'dddddddd-1111-4111-8111-111111111111'],
    ['invitationId', 'dddddddd-1111-4111-8111-111111111111'],
    ['secret', 'B'.repeat(43)],
  ] as const)('with another %s is not authentic', (member, value) => {
    expect(isAuthentic(macs, { ...sealed()!, [member]: value })).toBe(false);
  });

  it.each(['', '.', '.p1', '.p1.short', `.p1.${'A'.repeat(43)}.more`])('with %j at its end is refused', (end) => {
    const text = [token.tenantId, token.userId, token.invitationId, token.secret].join('.');
    expect(parseInvitationToken(text + end)).toBeUndefined();
  });
});
