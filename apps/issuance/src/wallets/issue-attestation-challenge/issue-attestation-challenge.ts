import { issueAttestationChallenge, type AttestationChallengeResponse, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { ClientAttestations } from '../client-attestation/client-attestations.js';

/** Challenge endpoint, attestation-based client authentication §6.1: no authentication, the body is ignored, nothing is stored. */
@Operation(issueAttestationChallenge)
export class IssueAttestationChallenge {
  constructor(private readonly attestations: ClientAttestations) {}

  execute(_request: unknown, { tenant }: PublicContext): Promise<AttestationChallengeResponse> {
    return Promise.resolve({ attestation_challenge: this.attestations.makeChallenge(tenant.id) });
  }
}
