import { People } from './people/people.js';

export const usersProviders = [People];
