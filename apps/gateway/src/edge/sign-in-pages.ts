import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Operation, OperationContext } from '@attestry/contracts';
import { PlatformConfig, runInContext, SignInDesk } from '@attestry/service-kit';
import { Directory } from '../directory/directory.js';
import { RunOperation } from '../operation/run-operation.js';
import type { ResolvedHost } from './hosts.js';

interface VisitOfEdge {
  host: ResolvedHost;
  requestId: string;
  /** What rates are counted by. */
  address: string;
  /** Milliseconds since the epoch. */
  deadline: number;
}

/** The pages of a sign-in that runs in this process. What they do for a person is an operation like any other: recorded, as that person. */
@Injectable()
export class SignInPages {
  private readonly origin: string;
  private readonly path: string;

  constructor(
    private readonly config: PlatformConfig,
    private readonly desk: SignInDesk,
    private readonly directory: Directory,
    private readonly operations: RunOperation,
  ) {
    const { origin, pathname } = new URL(config.signInIssuer);
    this.origin = origin;
    this.path = pathname;
  }

  /** Whether this address is one of the sign-in's. */
  serve({ api, publicUrl }: ResolvedHost, path: string): boolean {
    if (api !== 'auth' || publicUrl !== this.origin || this.desk.signIn === undefined) return false;
    return path === this.path || path.startsWith(`${this.path}/`);
  }

  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { host, requestId, address, deadline }: VisitOfEdge,
  ): Promise<void> {
    // The host was resolved and the scheme is configured; values that a caller sends for either do not count (ADR 0056).
    request.headers.host = new URL(host.publicUrl).host;
    delete request.headers['x-forwarded-host'];
    request.headers['x-forwarded-proto'] = this.config.publicScheme;
    await this.desk.signIn!.handle(request, response, {
      requestId,
      address,
      call: async (person, operation, body) => {
        const userId = await this.directory.userOf(person, deadline);
        const context: OperationContext = {
          caller: { kind: 'user', userId },
          requestId,
          operation: operation.name,
          deadline,
          publicUrl: host.publicUrl,
        };
        return runInContext(context, () => this.run(operation, context, body));
      },
    });
  }

  private run(operation: Operation, context: OperationContext, body: object): Promise<unknown> {
    return this.operations.run(operation, context, () => ({ params: {}, query: {}, body }));
  }
}
