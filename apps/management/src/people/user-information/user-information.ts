import type { UserInformation } from '@attestry/contracts';
import type { Person } from '../../users/people/people.js';

/** Every user has the only plan, and is active. */
export const userInformation = (id: string, { email, name }: Person): UserInformation => ({
  id,
  email,
  name,
  pricingPlan: { type: 'Standard' },
  status: 'Active',
});
