import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Exchange } from './exchange.js';

type Handle = (exchange: Exchange) => void | Promise<void>;

/** Adds a hook that waits only where `handle` does. */
export const addExchangeHook = (scope: FastifyInstance, handle: Handle): void => {
  const hook = ({ exchange }: FastifyRequest, _reply: unknown, done: () => void) => handle(exchange) ?? done();
  scope.addHook('onRequest', hook);
};

/**
 * A plugin that receives every request, in the order of registration, and may answer it. Without `skip-override` Fastify would scope the hook
 * to the plugin.
 */
export const exchangePlugin = (handle: Handle): FastifyPluginAsync =>
  Object.assign(async (scope: FastifyInstance) => addExchangeHook(scope, handle), {
    [Symbol.for('skip-override')]: true,
  });
