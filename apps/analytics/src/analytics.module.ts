import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { EventsReadModel } from './events.read-model.js';
import { ListEventsHandler } from './list-events/list-events.js';
import { RecordOperations } from './record-operations/record-operations.js';

@Module({
  imports: [CqrsModule],
  providers: [EventsReadModel, RecordOperations, ListEventsHandler],
})
export class AnalyticsModule {}
