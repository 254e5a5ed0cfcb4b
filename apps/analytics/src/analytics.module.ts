import { Module } from '@nestjs/common';
import { EventPages } from './event-lists/event-pages.js';
import { EventsReadModel } from './event-lists/events.read-model.js';
import { ExportEvents } from './export-events/export-events.js';
import { ListEventTypes } from './list-event-types/list-event-types.js';
import { ListEvents } from './list-events/list-events.js';
import { ListEventsOfTenant } from './list-events-of-tenant/list-events-of-tenant.js';
import { LoggedDataKeys } from './logged-data/logged-data-keys.js';
import { RecordOperations } from './record-operations/record-operations.js';
import { SealData } from './seal-data/seal-data.js';

@Module({
  providers: [
    EventsReadModel,
    EventPages,
    LoggedDataKeys,
    RecordOperations,
    ListEvents,
    ListEventsOfTenant,
    ExportEvents,
    ListEventTypes,
    SealData,
  ],
})
export class AnalyticsModule {}
