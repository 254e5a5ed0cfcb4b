import type { RequestListener } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Metrics, PlatformConfig } from '@attestry/service-kit';
import { createGatewayServer } from './create-gateway-server.js';
import { readableUrl } from './readable-url.js';

/** Nest's HTTP adapter on the gateway's HTTP server. */
export const gatewayAdapter = (config: PlatformConfig, metrics: Metrics): FastifyAdapter =>
  new FastifyAdapter({
    trustProxy: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    serverFactory: (listener: RequestListener) => createGatewayServer(config, metrics, listener),
    // The server answers these errors itself.
    clientErrorHandler: () => undefined,
    rewriteUrl: readableUrl,
  });
