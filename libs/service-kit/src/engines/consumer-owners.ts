import { BUS_PARTICIPANTS, busRights, type BusParticipant } from '@attestry/contracts';
import { ownerOf } from '@attestry/messaging';

/** Participants, default all, that keep the state of durable consumers on the bus. */
export const consumerOwners = (participants: readonly BusParticipant[] = BUS_PARTICIPANTS): string[] => [
  ...new Set(participants.flatMap((participant) => busRights(participant).consumes.map(({ name }) => ownerOf(name)))),
];
