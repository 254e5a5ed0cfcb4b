import { eventTypes, listEventTypes, type EventTypeList } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';

/** Event types of every operation of this release, whether it was called or not. */
@Operation(listEventTypes)
export class ListEventTypes {
  async execute(): Promise<EventTypeList> {
    return { data: eventTypes() };
  }
}
