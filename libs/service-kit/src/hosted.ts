import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { busRights, type BusParticipant } from '@attestry/contracts';
import { MessageBus, RestrictedBus } from '@attestry/messaging';
import type { ProcessEngines } from './engines/engines.js';
import { OperationRecorder } from './operation-recorder.js';
import { Reactions } from './reactions.js';
import { ServiceClient } from './service-client.js';

/** What a process can host: the gateway or a service. */
export interface Hosted {
  name: BusParticipant;
  module: Type;
}

/** A party's way to the bus. */
export const busOf = (participant: BusParticipant, { bus }: Pick<ProcessEngines, 'bus'>): RestrictedBus =>
  new RestrictedBus(bus, busRights(participant));

/** The party's module, in which everything that speaks on the bus has the party's name and rights, whoever else is in the process. */
export const hostedModule = ({ name, module }: Hosted, engines: ProcessEngines): DynamicModule => {
  const bus = busOf(name, engines);
  const providers: Provider[] = [
    { provide: MessageBus, useValue: bus },
    { provide: ServiceClient, useValue: new ServiceClient(bus, name, engines.localOperations) },
    { provide: OperationRecorder, useValue: new OperationRecorder(bus, engines.clock, engines.ids, name) },
    Reactions,
  ];
  return { module, providers };
};
