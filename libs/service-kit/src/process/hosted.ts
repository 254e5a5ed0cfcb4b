import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { busRights, type BusParticipant } from '@attestry/contracts';
import { MessageBus, RestrictedBus } from '@attestry/messaging';
import type { ProcessEngines } from '../engines/engines.js';
import { OperationRecorder } from '../operations/operation-recorder.js';
import { Reactions } from '../followers/reactions.js';
import { ServiceClient } from '../operations/service-client.js';

/** A participant that a process can host: the gateway or a service. */
export interface Hosted {
  name: BusParticipant;
  module: Type;
}

/** A participant's access to the bus. */
export const busOf = (participant: BusParticipant, { bus }: Pick<ProcessEngines, 'bus'>): RestrictedBus =>
  new RestrictedBus(bus, busRights(participant));

/** The participant's module, in which every use of the bus has the participant's name and rights, whatever else the process hosts. */
export const hostedModule = ({ name, module }: Hosted, engines: ProcessEngines): DynamicModule => {
  const bus = busOf(name, engines);
  const providers: Provider[] = [
    { provide: MessageBus, useValue: bus },
    { provide: ServiceClient, useValue: new ServiceClient(bus, name, engines.localOperations) },
    { provide: OperationRecorder, useValue: engines.recorders.of(name) },
    Reactions,
  ];
  return { module, providers };
};
