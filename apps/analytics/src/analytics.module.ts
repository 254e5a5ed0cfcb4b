import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { EventPages } from './event-pages.js';
import { EventsReadModel } from './events.read-model.js';
import { ExportEventsHandler } from './export-events/export-events.js';
import { ListEventTypesHandler } from './list-event-types/list-event-types.js';
import { ListEventsHandler } from './list-events/list-events.js';
import { ListEventsOfTenantHandler } from './list-events-of-tenant/list-events-of-tenant.js';
import { LoggedDataKeys } from './logged-data-keys.js';
import { RecordOperations } from './record-operations/record-operations.js';
import { SealDataHandler } from './seal-data/seal-data.js';

@Module({
  imports: [CqrsModule],
  providers: [
    EventsReadModel,
    EventPages,
    LoggedDataKeys,
    RecordOperations,
    ListEventsHandler,
    ListEventsOfTenantHandler,
    ExportEventsHandler,
    ListEventTypesHandler,
    SealDataHandler,
  ],
})
export class AnalyticsModule {}
