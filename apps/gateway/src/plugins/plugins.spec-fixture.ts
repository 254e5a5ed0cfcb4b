import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Exchange } from '../pipeline/exchange.js';
import { replyOf } from '../pipeline/exchange.spec-fixture.js';

type Hook = (request: object, reply: object, done: () => void) => void | Promise<void>;

/** Runs the hook of a plugin; returns whether the pipeline continues. */
export const passes = async (plugin: FastifyPluginAsync, exchange: Exchange): Promise<boolean> => {
  let hook: Hook | undefined;
  await plugin({ addHook: (_name: string, added: Hook) => (hook = added) } as unknown as FastifyInstance, {});
  await hook!({ exchange }, {}, () => undefined);
  return replyOf(exchange).sent.length === 0;
};
