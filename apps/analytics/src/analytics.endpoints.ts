import { listEvents } from '@attestry/contracts';
import { query } from '@attestry/service-kit';
import { ListEvents } from './list-events/list-events.js';

export const analyticsEndpoints = [query(listEvents, ListEvents)];
