import type { FastifyPluginAsync } from 'fastify';
import { frontPage } from '../interface/front-page.js';
import type { Dependencies } from '../pipeline/dependencies.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { answerDocument } from './interface-documents.js';

type Used = Pick<Dependencies, 'config' | 'rates' | 'health'>;

/** `/` of every host that is served. */
export const frontPages = (deps: Used): FastifyPluginAsync => {
  const { publicScheme, managementDomain } = deps.config;
  return exchangePlugin((exchange) => {
    const { host, path } = exchange;
    if (host && path === '/')
      return answerDocument(exchange, deps, frontPage(host, `${publicScheme}://${managementDomain}`));
  });
};
