import { Module } from '@nestjs/common';
import { CloseOperations } from './close-operations/close-operations.worker.js';
import { EventPages } from './event-lists/event-pages.js';
import { EventsReadModel } from './event-lists/events.read-model.js';
import { LoggedDataKeys } from './logged-data/logged-data-keys.js';
import { RecordOperations } from './record-operations/record-operations.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [...useCases, EventsReadModel, EventPages, LoggedDataKeys, RecordOperations, CloseOperations],
})
export class AnalyticsModule {}
