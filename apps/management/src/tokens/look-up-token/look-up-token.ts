import { isUuid, lookUpToken, type TokenAnswer } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { revokedToken, revokedTokenStream } from '../revoked-token/revoked-token.state.js';

/** Read from its stream, so that the result is never stale: a gateway that starts later learns of earlier revocations. */
@Operation(lookUpToken)
export class LookUpToken {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof lookUpToken>): Promise<TokenAnswer> {
    const { tokenId } = request.body;
    // Every token of this platform has a uuid.
    if (!isUuid(tokenId)) return { isRevoked: true };
    const { state } = await this.streams.load(revokedToken, revokedTokenStream(tokenId));
    return { isRevoked: state.status === 'revoked' };
  }
}
