import { exportEvents, listEvents, listEventTypes } from '@attestry/contracts';
import { query } from '@attestry/service-kit';
import { ExportEvents } from './export-events/export-events.js';
import { ListEventTypes } from './list-event-types/list-event-types.js';
import { ListEvents } from './list-events/list-events.js';

export const analyticsEndpoints = [
  query(listEvents, ListEvents),
  query(exportEvents, ExportEvents),
  query(listEventTypes, ListEventTypes),
];
