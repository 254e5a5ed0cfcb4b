import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { eventTypes, type EventTypeList, type listEventTypes, type OperationContext } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';

export class ListEventTypes {
  constructor(
    readonly request: RequestOf<typeof listEventTypes>,
    readonly context: OperationContext,
  ) {}
}

/** Of every operation of this release, whether it was ever called or not. */
@QueryHandler(ListEventTypes)
export class ListEventTypesHandler implements IQueryHandler<ListEventTypes> {
  async execute(): Promise<EventTypeList> {
    return { data: eventTypes() };
  }
}
