import { BUS_PARTIES, busRights, type BusParty } from '@attestry/contracts';
import { ownerOf } from '@attestry/messaging';

/** Participants, default all, that keep the state of durable consumers on the bus. */
export const consumerOwners = (parties: readonly BusParty[] = BUS_PARTIES): string[] => [
  ...new Set(parties.flatMap((party) => busRights(party).consumes.map(({ name }) => ownerOf(name)))),
];
