import { METHODS } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { MAX_BODY_BYTES, type Operation } from '@attestry/contracts';
import { SERVED_OPERATIONS } from '../interface/served-operations.js';
import { corsPreflight } from '../plugins/cors-preflight.js';
import { health } from '../plugins/health.js';
import { interfaceDocuments } from '../plugins/interface-documents.js';
import { SignInPages } from '../plugins/sign-in-pages.js';
import { TrustedProxies } from '../request/client-address.js';
import { limitBody } from '../request/limit-body.js';
import { answerError } from './answer-error.js';
import { Dependencies } from './dependencies.js';
import { addExchangeHook } from './exchange-hook.js';
import { openExchange } from './open-exchange.js';
import { sendAnswer } from './send-answer.js';
import { runSteps, type Step } from './step.js';
import { STEPS, stepsOf } from './steps.js';

/** The steps, and the plugins beside them, on the HTTP server. */
@Injectable()
export class Pipeline {
  private readonly steps: ReadonlyMap<Operation, ReturnType<typeof stepsOf>>;

  constructor(
    private readonly deps: Dependencies,
    private readonly signIn: SignInPages,
    @Inject(SERVED_OPERATIONS) served: readonly Operation[],
  ) {
    const withHttp = served.filter(({ http }) => http);
    this.steps = new Map(withHttp.map((operation) => [operation, stepsOf(operation)]));
  }

  /** In a separate Fastify scope. */
  mount(server: FastifyInstance): void {
    // Fastify would answer methods that it does not know itself. A tunnel (CONNECT) never gets here.
    for (const method of METHODS)
      if (method !== 'CONNECT' && !server.supportedMethods.includes(method)) server.addHttpMethod(method);
    this.deps.unread.watch(server.server);
    server.register(async (scope) => this.mountIn(scope));
  }

  private mountIn(scope: FastifyInstance): void {
    const { deps } = this;
    const proxies = new TrustedProxies(deps.config.trustedProxies);
    const addSteps = (steps: readonly Step[]) => addExchangeHook(scope, (exchange) => runSteps(steps, exchange, deps));
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    scope.decorateRequest('exchange', null as never);
    scope.setErrorHandler((error, { exchange }) => answerError(exchange, deps, error));

    scope.addHook('onRequest', (request, reply, done) => {
      request.exchange = openExchange(request, reply, proxies, deps);
      done();
    });
    scope.register(health(deps));
    addSteps(STEPS.host);
    scope.register(interfaceDocuments(deps));
    addSteps(STEPS.target);
    scope.register(this.signIn.plugin);
    scope.register(corsPreflight(deps));
    addSteps(STEPS.route);
    addExchangeHook(scope, (exchange) =>
      runSteps(this.steps.get(exchange.plan!.operation)!.beforeBody, exchange, deps),
    );
    // In the same turn: the limited body may fail in the next one, and has no listener before its parser has it.
    scope.addHook('preParsing', (request, _reply, payload, done) => {
      const { plan, inFlight } = request.exchange;
      done(
        null,
        limitBody(plan!.bodyLimit, request, payload, (bytes) => inFlight!.add(bytes)),
      );
    });
    scope.route({
      method: scope.supportedMethods,
      url: '/*',
      exposeHeadRoute: false,
      handler: async ({ exchange }) => {
        await runSteps(this.steps.get(exchange.plan!.operation)!.afterBody, exchange, deps);
        return sendAnswer(exchange, deps, exchange.answer!);
      },
    });
    scope.addHook('onResponse', ({ exchange }, reply, done) => {
      deps.observe.end(exchange.observed, reply.statusCode, reply.elapsedTime);
      done();
    });
  }
}
