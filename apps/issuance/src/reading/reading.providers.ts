import { RecentStates } from './recent-states/recent-states.js';

export const readingProviders = [RecentStates];
