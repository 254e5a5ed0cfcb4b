import { exportEvents, listEvents, listEventsOfTenant, listEventTypes, sealData } from '@attestry/contracts';
import { query } from '@attestry/service-kit';
import { ExportEvents } from './export-events/export-events.js';
import { ListEventTypes } from './list-event-types/list-event-types.js';
import { ListEvents } from './list-events/list-events.js';
import { ListEventsOfTenant } from './list-events-of-tenant/list-events-of-tenant.js';
import { SealData } from './seal-data/seal-data.js';

export const analyticsEndpoints = [
  query(listEvents, ListEvents),
  query(listEventsOfTenant, ListEventsOfTenant),
  query(exportEvents, ExportEvents),
  query(listEventTypes, ListEventTypes),
  query(sealData, SealData),
];
