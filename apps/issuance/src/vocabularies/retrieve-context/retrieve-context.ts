import { httpAnswer, retrieveContext, type HttpAnswer } from '@attestry/contracts';
import { Operation, PlatformConfig } from '@attestry/service-kit';
import { ContextLoader } from '../contexts/context-loader.js';

@Operation(retrieveContext)
export class RetrieveContext {
  constructor(
    private readonly loader: ContextLoader,
    private readonly config: PlatformConfig,
  ) {}

  async execute(): Promise<HttpAnswer> {
    // Verifiers load contexts from pages of any origin.
    return httpAnswer({
      headers: { 'access-control-allow-origin': '*' },
      body: this.loader.bundledAt(this.config.contextUrl),
    });
  }
}
