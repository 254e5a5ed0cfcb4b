import { Injectable } from '@nestjs/common';
import type { ManagementContext, Operation } from '@attestry/contracts';
import { SignInRegistry, type PersonOfIssuer } from '@attestry/service-kit';
import { Directory } from '../directory/directory.js';
import { checkQuery } from '../operation/check-utf8.js';
import { countPublicCall } from '../pipeline/apply-rate.js';
import { Dependencies } from '../pipeline/dependencies.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import type { Hosted } from '../pipeline/exchange.js';
import { runCall } from '../pipeline/run-call.js';
import { addCommonHeaders } from '../pipeline/send-answer.js';

/**
 * The pages of a sign-in that runs in this process. What they do for a person is an operation like any other: recorded, with that person as
 * the actor.
 */
@Injectable()
export class SignInPages {
  readonly plugin = exchangePlugin((exchange) => {
    const { host, path } = exchange as Hosted;
    if (host.api !== 'auth' || host.publicUrl !== this.origin || this.signIns.signIn === undefined) return;
    if (path === this.path || path.startsWith(`${this.path}/`)) return this.handlePage(exchange as Hosted);
  });
  private readonly origin: string;
  private readonly path: string;

  constructor(
    private readonly deps: Dependencies,
    private readonly signIns: SignInRegistry,
    private readonly directory: Directory,
  ) {
    const { origin, pathname } = new URL(deps.config.signInIssuer);
    this.origin = origin;
    this.path = pathname;
  }

  /** The pages read the request and write the response themselves. */
  private async handlePage(exchange: Hosted): Promise<void> {
    const { request, reply, host, requestId, address } = exchange;
    await countPublicCall(exchange, this.deps);
    checkQuery(request.url.slice(exchange.path.length + 1));
    addCommonHeaders(exchange, this.deps);
    reply.hijack();
    this.deps.unread.add(address, reply.raw, 0);
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    // The host was resolved and the scheme is configured: the client's headers for either are ignored.
    const { headers } = request.raw;
    headers.host = new URL(host.publicUrl).host;
    delete headers['x-forwarded-host'];
    headers['x-forwarded-proto'] = this.deps.config.publicScheme;
    await this.signIns.signIn!.handle(request.raw, reply.raw, {
      requestId,
      address,
      call: (person, operation, body) => this.callService(exchange, person, operation, body),
    });
  }

  private async callService(
    { requestId, deadline }: Hosted,
    person: PersonOfIssuer,
    operation: Operation,
    body: object,
  ): Promise<unknown> {
    const userId = await this.directory.userOf(person, deadline);
    const context: ManagementContext = {
      caller: { kind: 'user', userId },
      requestId,
      operation: operation.name,
      deadline,
    };
    return runCall({ plan: { operation }, context, sent: { params: {}, query: {}, body } }, this.deps);
  }
}
