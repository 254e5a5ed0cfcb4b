import { METHODS } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  AppError,
  bodyLimitOf,
  deprecationHeaders,
  MAX_BODY_BYTES,
  notFound,
  type Api,
  type Caller,
  type Deprecated,
  type HttpAnswer,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  checkIdempotencyKey,
  CLOCK,
  compileShapes,
  Health,
  healthAnswer,
  LOGGER,
  PlatformConfig,
  runInContext,
  type Logger,
} from '@attestry/service-kit';
import { Authenticate } from '../auth/authenticate.js';
import { InterfaceDocuments, type InterfaceDocument } from '../interface/interface-documents.js';
import { SERVED_OPERATIONS } from '../interface/served-operations.js';
import { checkPath, checkQuery, decodeBody } from '../operation/check-utf8.js';
import { mediaType, parseBody } from '../operation/parse-body.js';
import { renderError } from '../operation/render-error.js';
import { RunOperation } from '../operation/run-operation.js';
import { streamPages } from '../operation/stream-pages.js';
import { checkHost } from './check-host.js';
import { forwarded, rateKeyOf, TrustedProxies } from './client-address.js';
import { allowsOrigins, CORS_HEADERS, preflightHeaders } from './cors-headers.js';
import { Hosts, type ResolvedHost } from './hosts.js';
import { declaredLength, limitBody } from './limit-body.js';
import { ObserveRequests, type ObservedRequest } from './observe-requests.js';
import { isTokenCallFailure, RateLimits, type RateState } from './rate-limits.js';
import { originForm } from './readable-url.js';
import { newRequestId } from './request-id.js';
import { RequestsInFlight, type InFlight } from './requests-in-flight.js';
import { Router, SERVED_METHODS } from './router.js';
import { securityHeaders } from './security-headers.js';
import { SignInPages } from './sign-in-pages.js';

interface Admitted {
  host: ResolvedHost;
  operation: Operation;
  params: Record<string, string>;
  context: OperationContext;
}

interface EdgeState {
  requestId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** The operation's own once it is known. */
  deadline: number;
  errors: Operation['errors'];
  rate: RateState | undefined;
  address: string;
  admitted: Admitted | undefined;
  /** Of the operation, once it is known. */
  allowsOrigins: boolean;
  /** Absent for health, which is never refused. */
  inFlight: InFlight | undefined;
  /** Of the operation, once it is known. */
  deprecated: Deprecated | undefined;
  observed: ObservedRequest;
}

declare module 'fastify' {
  interface FastifyRequest {
    edge: EdgeState;
  }
}

/**
 * The HTTP edge (architecture, One request): request id, tenant from Host, route, rate limit, caller; then the body, the
 * operation and its answer. Everything before the body is decided before the body is read.
 */
@Injectable()
export class Edge {
  private readonly routers: Record<Api, Router>;
  private readonly proxies: TrustedProxies;

  constructor(
    private readonly config: PlatformConfig,
    private readonly hosts: Hosts,
    private readonly rates: RateLimits,
    private readonly inFlight: RequestsInFlight,
    private readonly authenticate: Authenticate,
    private readonly operations: RunOperation,
    private readonly health: Health,
    private readonly observe: ObserveRequests,
    private readonly documents: InterfaceDocuments,
    private readonly signIn: SignInPages,
    @Inject(SERVED_OPERATIONS) served: readonly Operation[],
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    compileShapes(served);
    this.proxies = new TrustedProxies(config.trustedProxies);
    const routerOf = (api: Api) => new Router(api, served);
    this.routers = {
      management: routerOf('management'),
      auth: routerOf('auth'),
      tenant: routerOf('tenant'),
      'custom-domain': routerOf('custom-domain'),
      contexts: routerOf('contexts'),
    };
  }

  /** Mounts the edge on the HTTP server, in a scope of its own. */
  mount(server: FastifyInstance): void {
    // Fastify would answer those it does not know past the edge. A tunnel (CONNECT) never gets here.
    for (const method of METHODS)
      if (method !== 'CONNECT' && !server.supportedMethods.includes(method)) server.addHttpMethod(method);
    server.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
        done(null, body),
      );
      scope.decorateRequest('edge', null as never);
      scope.addHook('onRequest', async (request, reply) => this.admit(request, reply));
      scope.addHook('preParsing', async (request, _reply, payload) => {
        const { admitted, inFlight } = request.edge;
        if (!admitted) return payload;
        return limitBody(bodyLimitOf(admitted.operation.http!), request, payload, (bytes) => inFlight?.add(bytes));
      });
      scope.addHook('onResponse', async (request, reply) =>
        this.observe.end(request.edge.observed, reply.statusCode, reply.elapsedTime),
      );
      scope.setErrorHandler((error, request, reply) => this.refuse(error, request, reply));
      scope.route({
        method: server.supportedMethods,
        url: '/*',
        exposeHeadRoute: false,
        handler: async (request, reply) => this.answer(request, reply),
      });
    });
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const startedAt = this.clock.now().getTime();
    const requestId = newRequestId();
    const {
      address,
      host: hostHeader,
      isForwarded,
      scheme = this.config.publicScheme,
      traceparent,
    } = forwarded(request.socket.remoteAddress ?? '', request.headers, this.proxies);
    const edge: EdgeState = {
      requestId,
      startedAt,
      deadline: startedAt + this.config.operationTimeoutMs,
      errors: this.hosts.apiOf(hostHeader) === 'management' ? 'management' : 'tenant',
      rate: undefined,
      address: rateKeyOf(address),
      admitted: undefined,
      allowsOrigins: false,
      inFlight: undefined,
      deprecated: undefined,
      observed: {},
    };
    request.edge = edge;
    reply.headers(securityHeaders(scheme));
    const path = pathOf(request.url);
    const isHealth = path === '/health/live' || path === '/health/ready';
    if (!isHealth) this.takeShare(request, reply, hostHeader, path);
    await this.refuseUnless(edge, () => checkHost(request.raw, request.originalUrl, isForwarded));
    if (isHealth) {
      edge.rate = this.rates.untouched();
      edge.observed.uncounted = true;
      return this.answerHealth(path, reply);
    }

    const host = await this.hosts.resolve(hostHeader, edge.deadline, () => {
      this.takeShape(request, hostHeader, path);
      return this.checkPublicCalls(edge);
    });
    const document = host && this.documents.find(host.api, path);
    if (document) return this.answerDocument(edge, request, reply, document);
    if (!SERVED_METHODS.includes(request.method)) {
      const allowed = host ? this.routers[host.api].allowed(path) : [];
      return this.refusePublic(edge, methodNotAllowed(allowed.length ? allowed : SERVED_METHODS));
    }
    if (!host) return this.refusePublic(edge, notFound());
    // What the server routes by is made readable; what was sent is what counts.
    await this.refuseUnless(edge, () => checkPath(pathOf(originForm(request.originalUrl))));
    if (this.signIn.serve(host, path)) return this.answerSignIn(edge, host, request, reply);
    const router = this.routers[host.api];
    const route = router.find(request.method, path);
    if (!route) {
      const allowed = router.allowed(path);
      if (allowed.length && request.method === 'OPTIONS') {
        const open = allowed.filter((method) => allowsOrigins(router.find(method, path)!.operation));
        return this.answerPreflight(edge, reply, allowed, open);
      }
      return this.refusePublic(edge, allowed.length ? methodNotAllowed(allowed) : notFound());
    }
    const { operation, params } = route;
    edge.errors = operation.errors;
    edge.allowsOrigins = allowsOrigins(operation);
    edge.deprecated = operation.deprecated;
    if (operation.timeoutMs) edge.deadline = startedAt + operation.timeoutMs;
    this.observe.begin(edge.observed, operation, {
      requestId,
      startedAt,
      parent: traceparent,
      tenantId: host.tenant?.id,
    });
    const caller = await this.admitCaller(edge, host, operation, request);
    const context = this.contextOf(edge, host, operation, caller);
    const key = operation.idempotent ? request.headers['idempotency-key'] : undefined;
    if (key !== undefined) context.idempotencyKey = String(key);
    edge.admitted = { host, operation, params, context };
  }

  /** What the request holds until it is answered. @throws AppError 429, in the shape that the path and host have */
  private takeShare(request: FastifyRequest, reply: FastifyReply, host: string | undefined, path: string): void {
    const { edge } = request;
    const length = declaredLength(request.headers);
    try {
      // A longer body is a 413, and not read.
      edge.inFlight = this.inFlight.take(edge.address, length > MAX_BODY_BYTES ? 0 : length);
    } catch (error) {
      this.takeShape(request, host, path);
      // What is still to come of the body would be read in vain.
      if (length > 0 || request.headers['transfer-encoding'] !== undefined) reply.header('connection', 'close');
      throw error;
    }
    reply.raw.once('finish', edge.inFlight.release).once('close', edge.inFlight.release);
  }

  /** The shape of errors before the host is looked up: that of the path and of the API that the host would have. */
  private takeShape({ edge, method }: FastifyRequest, host: string | undefined, path: string): void {
    const operation = this.routers[this.hosts.apiOf(host)].find(method, path)?.operation;
    edge.allowsOrigins = operation !== undefined && allowsOrigins(operation);
    if (operation) edge.errors = operation.errors;
  }

  /** Before work for a caller that is not known yet: an address over its public limit costs nothing more (ADR 0046). */
  private async checkPublicCalls(edge: EdgeState): Promise<void> {
    const rate = await this.rates.publicCalls(edge.address);
    if (rate.exceeded) edge.rate = rate;
    this.checkRate(rate);
  }

  /** Rate limit and authentication; both before the body is read. */
  private async admitCaller(
    edge: EdgeState,
    host: ResolvedHost,
    operation: Operation,
    request: FastifyRequest,
  ): Promise<Caller> {
    const { address } = edge;
    const tenantId = host.tenant?.id;
    if (operation.rate === 'client-token') {
      edge.rate = await this.rates.tokenFailures(address);
      this.checkRate(edge.rate);
      return { kind: 'public' };
    }
    if (operation.rate !== 'api') {
      edge.rate = await this.rates.count(operation.rate, { address, ...(tenantId && { tenantId }) });
      this.checkRate(edge.rate);
      return this.authenticate.caller(operation, host, request.headers.authorization, edge.deadline);
    }
    let caller: Caller;
    try {
      caller = await this.authenticate.caller(operation, host, request.headers.authorization, edge.deadline, () =>
        this.checkPublicCalls(edge),
      );
    } catch (error) {
      // A caller nobody knows is counted by address, so that guessing tokens is limited too.
      edge.rate = await this.rates.count('public', { address });
      this.checkRate(edge.rate);
      throw error;
    }
    const clientId =
      caller.kind === 'client' || caller.kind === 'management'
        ? caller.clientId
        : caller.kind === 'user'
          ? `user:${caller.userId}`
          : undefined;
    edge.rate = await this.rates.count('api', {
      address,
      ...(tenantId && { tenantId }),
      ...(clientId && { clientId }),
    });
    this.checkRate(edge.rate);
    await this.authenticate.authorize(operation, host, caller, edge.deadline);
    return caller;
  }

  private contextOf(edge: EdgeState, host: ResolvedHost, operation: Operation, caller: Caller): OperationContext {
    const { traceparent } = edge.observed;
    return {
      ...(host.tenant && { tenant: host.tenant }),
      caller,
      requestId: edge.requestId,
      operation: operation.name,
      deadline: edge.deadline,
      ...(traceparent !== undefined && { traceparent }),
      publicUrl: host.publicUrl,
    };
  }

  private async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { operation, context, params } = request.edge.admitted!;
    const body = request.body as Buffer | undefined;
    if (operation.http!.stream) return this.answerStream(request, reply);
    let parsed: { body: unknown } | undefined;
    const parse = () => (parsed ??= { body: parseBody(operation, request.headers['content-type'], body) }).body;
    const clientId = operation.rate === 'client-token' ? await this.checkTokenCalls(request.edge, parse()) : undefined;
    const result = await runInContext(context, () =>
      this.operations.run(operation, context, () => this.requestOf(operation, params, request, parse)),
    );
    if (clientId !== undefined) request.edge.rate = await this.rates.countTokenCall(clientId);
    const answer = (result as HttpAnswer | null | undefined)?.$http ?? { body: result };
    const status = answer.status ?? operation.http!.success;
    reply.code(status);
    this.commonHeaders(request.edge, reply);
    reply.header('cache-control', operation.http!.cacheControl ?? 'no-store');
    if (allowsOrigins(operation)) reply.headers(CORS_HEADERS);
    if (answer.headers) reply.headers(answer.headers);
    if (status === 204 || answer.body === undefined || answer.body === null) return reply.send();
    if (typeof answer.body === 'string') return reply.send(answer.body);
    if (!answer.headers?.['content-type'])
      reply.header('content-type', operation.http!.mediaType ?? 'application/json; charset=utf-8');
    return reply.send(JSON.stringify(answer.body));
  }

  /** Lines of JSON as long as there are pages and the caller takes them; who may no longer call gets no further page. */
  private async answerStream(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { host, operation, context, params } = request.edge.admitted!;
    const asked = this.requestOf(operation, params, request, () => ({}));
    const pages = await streamPages(async (cursor) => {
      const deadline = this.clock.now().getTime() + (operation.timeoutMs ?? this.config.operationTimeoutMs);
      if (cursor !== undefined) {
        const { authorization } = request.headers;
        const caller = await this.authenticate.caller(operation, host, authorization, deadline);
        await this.authenticate.authorize(operation, host, caller, deadline);
      }
      const own = { ...context, deadline };
      return runInContext(own, () => this.operations.page(operation, own, asked, cursor));
    });
    reply.code(operation.http!.success);
    this.commonHeaders(request.edge, reply);
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/x-ndjson' });
    if (request.method === 'HEAD') return reply.send();
    return reply.send(Readable.from(pages, { objectMode: false }));
  }

  private requestOf(
    operation: Operation,
    params: Record<string, string>,
    request: FastifyRequest,
    parse: () => unknown,
  ): OperationRequest {
    const key = request.edge.admitted!.context.idempotencyKey;
    if (key !== undefined) checkIdempotencyKey(key);
    const search = queryOf(request.url);
    checkQuery(search);
    const query = search === '' ? {} : { ...parseQuery(search) };
    if (operation.http!.body !== 'raw') return { params, query, body: parse() };
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
    return {
      params,
      query,
      body: {},
      raw: {
        method: request.method,
        url: request.url,
        headers,
        text: decodeBody(request.body as Buffer | undefined, mediaType(request.headers['content-type'])),
      },
    };
  }

  /**
   * The client id is in the body, so its limit is checked after the body was read. Only a call with the right secret is counted,
   * and only afterwards: without the secret it is not possible to use up a client's limit (ADR 0046).
   */
  private async checkTokenCalls(edge: EdgeState, body: unknown): Promise<string | undefined> {
    const { client_id: id } = (body ?? {}) as { client_id?: unknown };
    if (typeof id !== 'string') return undefined;
    const clientId = id.slice(0, 128);
    edge.rate = await this.rates.tokenCalls(clientId);
    this.checkRate(edge.rate);
    return clientId;
  }

  private checkRate(rate: RateState): void {
    if (!rate.exceeded) return;
    const seconds = Math.max(1, rate.reset - Math.floor(Date.now() / 1000));
    throw new AppError('tooManyRequests', 'Too Many Requests', { headers: { 'retry-after': String(seconds) } });
  }

  /** Strangers' requests count against their address. */
  private async refusePublic(edge: EdgeState, error: AppError): Promise<never> {
    edge.rate = await this.rates.count('public', { address: edge.address });
    this.checkRate(edge.rate);
    throw error;
  }

  /** A fault of the request that comes before any operation counts as a public call. */
  private async refuseUnless(edge: EdgeState, check: () => void): Promise<void> {
    try {
      check();
    } catch (error) {
      await this.refusePublic(edge, error as AppError);
    }
  }

  private async refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const edge = request.edge;
    const failure = this.asAppError(error, edge);
    if (edge.admitted && !(error instanceof AppError)) {
      // A call whose body could not be read is recorded too: START precedes validation (ADR 0004).
      const { operation, context } = edge.admitted;
      const recorded = runInContext(context, () =>
        this.operations.run(operation, context, () => {
          throw failure;
        }),
      );
      await recorded.catch((told: unknown) => {
        if (told !== failure)
          this.logger.error({ requestId: edge.requestId, error: String(told) }, 'operation event not recorded');
      });
    }
    const { status, headers, body } = renderError(failure, edge.errors);
    if (edge.admitted?.operation.rate === 'client-token' && isTokenCallFailure(status))
      edge.rate = await this.rates.countTokenFailure(edge.address);
    edge.rate ??= this.rates.untouched();
    reply.code(status);
    this.commonHeaders(edge, reply);
    reply.header('cache-control', 'no-store').headers(headers);
    if (edge.allowsOrigins) reply.headers(CORS_HEADERS);
    return reply.send(body);
  }

  private asAppError(error: unknown, edge: EdgeState): AppError {
    if (error instanceof AppError) return error;
    const code = (error as { code?: string }).code ?? '';
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('timeout', 'Request Timeout');
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('tooLarge', 'Payload Too Large');
    if (/^FST_ERR_CTP_(?:INVALID_MEDIA_TYPE|EMPTY_TYPE)$/.test(code))
      return new AppError('unsupportedMediaType', 'Unsupported Media Type');
    if (/^FST_ERR_CTP_/.test(code) || (error as { statusCode?: number }).statusCode === 400)
      return new AppError('invalid', 'Malformed request');
    this.logger.error(
      { requestId: edge.requestId, error: error instanceof Error ? error.stack : String(error) },
      'request failed',
    );
    return new AppError('internal', 'Internal error');
  }

  private commonHeaders({ requestId, rate, deprecated }: EdgeState, reply: FastifyReply): void {
    reply.header('x-request-id', requestId);
    if (deprecated) reply.headers(deprecationHeaders(deprecated));
    // While the process says farewell, callers are sent elsewhere before their connections are closed.
    if (this.health.isClosing) reply.header('connection', 'close');
    if (!rate) return;
    reply.header('x-ratelimit-limit', rate.limit);
    reply.header('x-ratelimit-remaining', rate.remaining);
    reply.header('x-ratelimit-reset', rate.reset);
  }

  private answerHealth(path: '/health/live' | '/health/ready', reply: FastifyReply): void {
    const { status, type, body } = healthAnswer(path, this.health);
    this.commonHeaders(reply.request.edge, reply);
    reply.code(status).header('content-type', type).header('cache-control', 'no-store').send(body);
  }

  private async answerDocument(
    edge: EdgeState,
    request: FastifyRequest,
    reply: FastifyReply,
    { headers, body }: InterfaceDocument,
  ): Promise<void> {
    const allowed = ['GET', 'HEAD'];
    if (request.method === 'OPTIONS') {
      const isOpen = headers['access-control-allow-origin'] !== undefined;
      return this.answerPreflight(edge, reply, allowed, isOpen ? allowed : []);
    }
    if (!allowed.includes(request.method)) return this.refusePublic(edge, methodNotAllowed(allowed));
    edge.rate = await this.rates.count('public', { address: edge.address });
    this.checkRate(edge.rate);
    this.commonHeaders(edge, reply);
    reply.headers(headers);
    const isKnown = request.headers['if-none-match'] === headers['etag'];
    void (isKnown ? reply.code(304).send() : reply.code(200).send(body));
  }

  /** Pages of the sign-in are no operations: they read the request and write the answer themselves. */
  private async answerSignIn(
    edge: EdgeState,
    host: ResolvedHost,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    edge.rate = await this.rates.count('public', { address: edge.address });
    this.checkRate(edge.rate);
    checkQuery(queryOf(request.url));
    this.commonHeaders(edge, reply);
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    await this.signIn.answer(request.raw, reply.raw, { host, ...edge });
  }

  /** OPTIONS (RFC 9110 §9.3.7), and CORS preflight (Fetch standard) where pages of other origins may call. */
  private async answerPreflight(
    edge: EdgeState,
    reply: FastifyReply,
    allowed: string[],
    open: string[],
  ): Promise<void> {
    edge.rate = await this.rates.count('public', { address: edge.address });
    this.checkRate(edge.rate);
    this.commonHeaders(edge, reply);
    reply
      .code(204)
      .headers({ allow: [...allowed, 'OPTIONS'].join(', '), 'cache-control': 'no-store', ...preflightHeaders(open) })
      .send();
  }
}

const methodNotAllowed = (allowed: readonly string[]): AppError =>
  new AppError('methodNotAllowed', 'Method Not Allowed', { headers: { allow: allowed.join(', ') } });

const pathOf = (url: string): string => {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
};

/** Without the question mark; '' when there is none. */
const queryOf = (url: string): string => {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
};
