import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { httpAnswer, type HttpAnswer, type OperationContext, type OperationRequest } from '@attestry/contracts';
import { PlatformConfig } from '@attestry/service-kit';
import { ContextLoader } from '../contexts/context-loader.js';

export class RetrieveContext {
  constructor(
    readonly request: OperationRequest,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveContext)
export class RetrieveContextHandler implements IQueryHandler<RetrieveContext> {
  constructor(
    private readonly loader: ContextLoader,
    private readonly config: PlatformConfig,
  ) {}

  async execute(_query: RetrieveContext): Promise<HttpAnswer> {
    // Verifiers load contexts from pages of any origin.
    return httpAnswer({
      headers: { 'access-control-allow-origin': '*' },
      body: this.loader.load(this.config.contextUrl, []),
    });
  }
}
