import type { UserInformation } from '@attestry/contracts';
import type { Person } from './people.js';

/** Everybody has the one plan there is, and is active while known. */
export const userInformation = (id: string, { email, name }: Person): UserInformation => ({
  id,
  email,
  name,
  pricingPlan: { type: 'Standard' },
  status: 'Active',
});
