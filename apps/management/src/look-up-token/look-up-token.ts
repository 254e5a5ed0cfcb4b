import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { isUuid, type lookUpToken, type OperationContext, type TokenAnswer } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { RequestOf } from '@attestry/service-kit';
import { revokedToken, revokedTokenStream } from '../revoked-token/revoked-token.state.js';

export class LookUpToken {
  constructor(
    readonly request: RequestOf<typeof lookUpToken>,
    readonly context: OperationContext,
  ) {}
}

/** From its stream, so that the answer is never stale: a gateway that starts later knows what was revoked before. */
@QueryHandler(LookUpToken)
export class LookUpTokenHandler implements IQueryHandler<LookUpToken> {
  constructor(private readonly streams: Streams) {}

  async execute({ request }: LookUpToken): Promise<TokenAnswer> {
    const { tokenId } = request.body;
    // Every token of this platform has a uuid.
    if (!isUuid(tokenId)) return { isRevoked: true };
    const { state } = await this.streams.load(revokedToken, revokedTokenStream(tokenId));
    return { isRevoked: state.status === 'revoked' };
  }
}
