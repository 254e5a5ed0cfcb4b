import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { analyticsService } from '@attestry/analytics';
import { didsService } from '@attestry/dids';
import { Edge, GatewayModule } from '@attestry/gateway';
import { issuanceService } from '@attestry/issuance';
import { managementService } from '@attestry/management';
import {
  AdminServer,
  createNestLogger,
  openEngines,
  rootModule,
  serveEndpoints,
  type Engines,
  type EnginesOptions,
  type PlatformConfig,
  type ServiceDefinition,
} from '@attestry/service-kit';
import { webhooksService } from '@attestry/webhooks';

/** All services of the embedded process. */
export const SERVICES: readonly ServiceDefinition[] = [
  managementService,
  didsService,
  issuanceService,
  webhooksService,
  analyticsService,
];

export interface Platform {
  engines: Engines;
  /** Address the HTTP server listens on. */
  port: number;
  /** Port of health and metrics for the operator, where ADMIN_PORT asks for one. */
  adminPort?: number;
  close(): Promise<void>;
}

/** Time between closing the doors and cutting what is still open. */
const KEEP_ALIVE_MS = 65_000;

/** Starts every service in this process on the embedded engines, with the HTTP edge in front. */
export const startPlatform = async (config: PlatformConfig, options: EnginesOptions = {}): Promise<Platform> => {
  const engines = await openEngines(config, options);
  try {
    const adapter = new FastifyAdapter({
      trustProxy: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      forceCloseConnections: 'idle',
      return503OnClosing: false,
    });
    const root: Type = rootModule(SERVICES, engines, [GatewayModule]);
    const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
      bodyParser: false,
      logger: createNestLogger(engines.logger),
      abortOnError: false,
    });
    app.get(Edge).mount(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
    await app.init();
    const transport = serveEndpoints(app, SERVICES, engines);
    await app.listen(config.port, config.host);
    const { health, metrics } = engines;
    const admin =
      config.adminPort === undefined
        ? undefined
        : await AdminServer.start({ port: config.adminPort, host: config.host, health, metrics });
    const close = async () => {
      engines.health.close();
      // Doors first, then what is in hand, then the reactions, then the engines: nothing acknowledged is lost.
      app.getHttpServer().close();
      await transport.close();
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
