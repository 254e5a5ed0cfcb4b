import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JwkSet, OperationContext, retrieveTokenKeys } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { TokenKeys } from '../issue-token/token-keys.js';

export class RetrieveTokenKeys {
  constructor(
    readonly request: RequestOf<typeof retrieveTokenKeys>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveTokenKeys)
export class RetrieveTokenKeysHandler implements IQueryHandler<RetrieveTokenKeys> {
  constructor(private readonly keys: TokenKeys) {}

  execute(): Promise<JwkSet> {
    return this.keys.jwks();
  }
}
