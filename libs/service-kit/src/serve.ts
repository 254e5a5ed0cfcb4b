import { Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer, NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { operationsOf } from '@attestry/contracts';
import { BusTransport, type BusContext, type Serving } from '@attestry/messaging';
import { discoverUseCases } from './discover-use-cases.js';
import { checkEndpoints, useCaseOf } from './endpoints.js';
import type { ProcessEngines } from './engines/engines.js';
import { EnginesModule } from './engines/engines.module.js';
import { busOf, hostedModule, type Hosted } from './hosted.js';
import { compileShapes } from './validation.js';
import { createNestLogger } from './logger.js';
import { onBus, operationHandler } from './operation-handler.js';
import { observedEndpoint } from './observed/observed-endpoint.js';
import { Repeats } from './repeats/repeats.js';
import type { ServiceDefinition } from './service-definition.js';

/** Root module of a process: the engines and whom it hosts. */
export const rootModule = (hosted: readonly Hosted[], engines: ProcessEngines): Type => {
  @Module({
    imports: [
      CqrsModule.forRoot(),
      DiscoveryModule,
      EnginesModule.with(engines),
      ...hosted.map((party) => hostedModule(party, engines)),
    ],
  })
  class RootModule {}
  return RootModule;
};

/** Keys under which @nestjs/cqrs remembers which message class a handler is for. */
const HANDLER_METADATA = { command: '__commandHandler__', query: '__queryHandler__' } as const;

/**
 * Boot check: exactly one handler per message. @nestjs/cqrs itself only warns and lets the last one win.
 * @throws naming every message without a handler or with two
 */
const checkHandlers = (app: INestApplicationContext, services: readonly ServiceDefinition[]): void => {
  const handlers = new Map<unknown, Set<unknown>>();
  for (const module of app.get(ModulesContainer, { strict: false }).values())
    for (const { metatype } of module.providers.values()) {
      if (typeof metatype !== 'function') continue;
      for (const key of Object.values(HANDLER_METADATA)) {
        const message: unknown = Reflect.getMetadata(key, metatype);
        if (message) handlers.set(message, (handlers.get(message) ?? new Set()).add(metatype));
      }
    }
  const faults = services.flatMap(({ endpoints = [] }) =>
    endpoints
      .flatMap((endpoint) =>
        endpoint.mayRepeat ? [endpoint, { ...endpoint, message: endpoint.mayRepeat }] : [endpoint],
      )
      .filter(({ message }) => handlers.get(message)?.size !== 1)
      .map(
        ({ operation, message }) =>
          `${operation.name}: ${handlers.get(message)?.size ?? 0} handlers of ${message.name}`,
      ),
  );
  if (faults.length) throw new Error(`handlers: ${faults.join('; ')}`);
};

/**
 * Serves every operation of the services on the bus, through the Nest transport.
 * @throws when an operation has not exactly one handler, or a shape that cannot be compiled
 */
export const serveOperations = (
  app: INestApplicationContext,
  services: readonly ServiceDefinition[],
  engines: ProcessEngines,
): Serving => {
  const buses = { command: app.get(CommandBus, { strict: false }), query: app.get(QueryBus, { strict: false }) };
  checkHandlers(app, services);
  const discovery = app.get(DiscoveryService, { strict: false });
  const useCases = discoverUseCases(
    discovery,
    services.filter(({ endpoints }) => !endpoints),
  );
  const repeats = engines.vault && new Repeats(engines.vault, engines.clock, engines.logger);
  repeats?.start();
  const transports = services.map(({ name, endpoints }) => {
    const transport = new BusTransport(busOf(name, engines));
    if (endpoints) checkEndpoints(name, endpoints);
    const operations = operationsOf(name);
    compileShapes(operations);
    if (!repeats && operations.some(({ idempotent }) => idempotent))
      throw new Error(`${name} has idempotent operations and does not ask for keys`);
    for (const operation of operations) {
      const useCase = endpoints
        ? useCaseOf(
            endpoints.find((endpoint) => endpoint.operation === operation)!,
            buses,
          )
        : onBus(operation, useCases.get(operation)!, buses);
      const handle = observedEndpoint(
        operation.name,
        operationHandler(operation, useCase, engines.logger, repeats),
        engines.metrics,
        engines.tracing,
      );
      transport.addHandler(operation.subject, async (data: unknown, context: BusContext) =>
        handle(data, context.getHeaders(), context.getFrom(), context.isChecked()),
      );
    }
    return transport;
  });
  for (const transport of transports) transport.listen(() => undefined);
  return {
    async close() {
      repeats?.close();
      await Promise.all(transports.map((transport) => transport.close()));
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
