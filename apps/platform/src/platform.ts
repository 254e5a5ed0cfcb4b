import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import {
  AdminServer,
  createNestLogger,
  openProcessEngines,
  rootModule,
  serveOperations,
  type EngineNeed,
  type EnginesOptions,
  type PlatformConfig,
  type ProcessEngines,
  type ServiceDefinition,
} from '@attestry/service-kit';
import { tryPort } from './listening-ports.js';
import { LOADERS } from './service-loaders.generated.js';

type Gateway = typeof import('@attestry/gateway');

/** @param name of one service; default all */
export const loadServices = (name?: string): Promise<ServiceDefinition[]> =>
  Promise.all(
    Object.entries(LOADERS).flatMap(([service, load]) => (name === undefined || name === service ? [load()] : [])),
  );

export interface Platform {
  engines: ProcessEngines;
  /** Port the HTTP server listens on. */
  port: number;
  /** Port of health and metrics for the operator: ADMIN_PORT, or PORT where there is no public API. */
  adminPort?: number;
  /** Unready at once; resolves when work in progress is finished, leases are released and engines closed. */
  close(): Promise<void>;
}

/** Longest wait for requests in progress while draining. */
const DRAIN_MS = 10_000;

/** Participants that this process runs: everything, the gateway, or one service. */
export const hosted = async (config: PlatformConfig) => {
  const { service } = config;
  const services = await loadServices(service);
  const gateway = service === undefined || service === 'gateway' ? await import('@attestry/gateway') : undefined;
  const needs = new Set<EngineNeed>([
    ...services.flatMap((definition) => definition.needs),
    ...(gateway?.GATEWAY_NEEDS ?? []),
  ]);
  const ports = new Set([config.port, ...(gateway && config.adminPort !== undefined ? [config.adminPort] : [])]);
  return { services, gateway, needs, ports };
};

const startGateway = async (
  { gatewayAdapter, Pipeline }: Gateway,
  root: Parameters<typeof NestFactory.create>[0],
  config: PlatformConfig,
  engines: ProcessEngines,
) => {
  const app = await NestFactory.create<NestFastifyApplication>(root, gatewayAdapter(config, engines.metrics), {
    bodyParser: false,
    logger: createNestLogger(engines.logger),
    abortOnError: false,
  });
  app.get(Pipeline).mount(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
  await app.init();
  return app;
};

/** No new connections; resolves when all requests in progress are answered. */
const drain = async (server: Server): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection becomes idle with its response, and would then be kept for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  await Promise.race([closed, pause(DRAIN_MS, undefined, { ref: false })]);
  clearInterval(idle);
};

/** Starts what the configuration names in this process, on the engines it names. */
export const startPlatform = async (config: PlatformConfig, options: EnginesOptions = {}): Promise<Platform> => {
  const { services, gateway, needs, ports } = await hosted(config);
  // Before an engine is opened: a port that is in use must not leave a data folder or a lease behind.
  for (const port of ports) await tryPort(port, config.host);
  const engines = await openProcessEngines(config, needs, options);
  try {
    const root = rootModule([...services, ...(gateway ? [gateway.gatewayParticipant] : [])], engines);
    const edge = gateway ? await startGateway(gateway, root, config, engines) : undefined;
    const app: INestApplicationContext =
      edge ??
      (await NestFactory.createApplicationContext(root, {
        logger: createNestLogger(engines.logger),
        abortOnError: false,
      }));
    const serving = serveOperations(app, services, engines);
    // Nest's own `listen` would log a port in use in addition to throwing the error.
    const { port, host } = config;
    await (edge?.getHttpAdapter().getInstance() as FastifyInstance | undefined)?.listen({ port, host });
    const adminPort = edge ? config.adminPort : config.port;
    const { health, metrics } = engines;
    const admin =
      adminPort === undefined
        ? undefined
        : await AdminServer.start({ port: adminPort, host: config.host, health, metrics });
    const close = async () => {
      engines.health.close();
      await pause(config.shutdownDelay * 1000);
      // Connections first, then requests in progress, then reactions, then engines: nothing acknowledged is lost.
      if (edge) await drain(edge.getHttpServer() as Server);
      await serving.close();
      // While analytics still reads the feed: a feed that is read to its end can be left behind when data moves.
      await engines.recorders.close();
      await app.close();
      await admin?.close();
      await engines.close();
    };
    return { engines, port: config.port, ...(admin && { adminPort: admin.port }), close };
  } catch (error) {
    await engines.close();
    throw error;
  }
};
