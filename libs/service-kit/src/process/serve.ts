import { Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { operationsOf } from '@attestry/contracts';
import { BusTransport, type Serving } from '@attestry/messaging';
import { discoverUseCases } from '../operations/discover-use-cases.js';
import type { ProcessEngines } from '../engines/engines.js';
import { EnginesModule } from '../engines/engines.module.js';
import { busOf, hostedModule, type Hosted } from './hosted.js';
import { compileShapes } from '../shapes/validation.js';
import { createNestLogger } from './logger.js';
import { messageHandler, operationHandler, registerUseCase } from '../operations/operation-handler.js';
import { observedOperation } from '../observed/observed-operation.js';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import type { ServiceDefinition } from './service-definition.js';

/** Root module of a process: the engines and the hosted participants. */
export const rootModule = (hosted: readonly Hosted[], engines: ProcessEngines): Type => {
  @Module({
    imports: [
      CqrsModule.forRoot(),
      DiscoveryModule,
      EnginesModule.forRoot(engines),
      ...hosted.map((participant) => hostedModule(participant, engines)),
    ],
  })
  class RootModule {}
  return RootModule;
};

/**
 * Serves every operation of the services on the bus, through the Nest transport, and by reference where the process calls that way.
 * @throws when an operation has not exactly one handler, or a shape that cannot be compiled
 */
export const serveOperations = (
  app: INestApplicationContext,
  services: readonly ServiceDefinition[],
  engines: ProcessEngines,
): Serving => {
  const buses = { command: app.get(CommandBus, { strict: false }), query: app.get(QueryBus, { strict: false }) };
  const useCases = discoverUseCases(app.get(DiscoveryService, { strict: false }), services);
  const idempotentCalls =
    engines.vault && new IdempotentCalls(engines.vault.expiringState, engines.clock, engines.logger);
  idempotentCalls?.start();
  const transports = services.map(({ name }) => {
    const transport = new BusTransport(busOf(name, engines));
    const operations = operationsOf(name);
    compileShapes(operations);
    if (!idempotentCalls && operations.some(({ idempotent }) => idempotent))
      throw new Error(`${name} has idempotent operations and does not ask for keys`);
    for (const operation of operations) {
      const useCase = registerUseCase(operation, useCases.get(operation)!, buses);
      const handle = observedOperation(
        operation.name,
        operationHandler(operation, useCase, engines, idempotentCalls),
        engines.metrics,
        engines.tracing,
      );
      engines.localOperations?.serve(operation.subject, handle);
      // Checks of another process do not count here.
      transport.addHandler(operation.subject, messageHandler(operation, handle, engines.logger));
    }
    return transport;
  });
  for (const transport of transports) transport.listen(() => undefined);
  return {
    async close() {
      idempotentCalls?.close();
      await Promise.all([engines.localOperations?.close(), ...transports.map((transport) => transport.close())]);
    },
  };
};

export interface RunningServices {
  app: INestApplicationContext;
  close(): Promise<void>;
}

/** Starts services without HTTP: for tests of one service, and for service processes. The engines stay open on close. */
export const startServices = async (
  services: readonly ServiceDefinition[],
  engines: ProcessEngines,
): Promise<RunningServices> => {
  const app = await NestFactory.createApplicationContext(rootModule(services, engines), {
    logger: createNestLogger(engines.logger),
    abortOnError: false,
  });
  const serving = serveOperations(app, services, engines);
  return {
    app,
    async close() {
      await serving.close();
      await app.close();
    },
  };
};
