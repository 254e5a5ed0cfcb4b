import type { Member, MemberStatus, Role } from '@attestry/contracts';
import type { Person } from '../../users/people/people.js';

export const memberView = (
  id: string,
  { email, name }: Person,
  status: MemberStatus,
  { roles, inviteExpiresAt }: { roles: Role[]; inviteExpiresAt?: string | null },
): Member => ({
  id,
  email,
  name,
  status,
  roles,
  ...(inviteExpiresAt !== null && inviteExpiresAt !== undefined && { inviteExpiresAt }),
});
