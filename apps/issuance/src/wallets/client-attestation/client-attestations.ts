import { Inject, Injectable } from '@nestjs/common';
import { oauthError, type AppError, type RawRequest, type TenantContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs, type SingleUseValue } from '@attestry/keys';
import { CLOCK, PlatformConfig } from '@attestry/service-kit';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import { loadTrustAnchors } from '../compact-jws/certified-key.js';
import {
  InvalidClientAttestation,
  verifyAttestationPop,
  verifyClientAttestation,
  type AttestationErrorCode,
  type AttestationPop,
  type AttestedInstance,
} from './client-attestation.js';
import type { DpopProof } from '../dpop/dpop-proof.js';
import { dpopError, PROOF_USED } from '../dpop/dpop-proofs.js';
import { makeNonce, verifyNonce } from '../nonce/nonce.js';

export const attestationError = (
  description: string,
  code: AttestationErrorCode = 'invalid_client',
  headers?: Record<string, string>,
): AppError => oauthError(code, description, { check: 'client-attestations', ...(headers && { headers }) });

const POP = 'the proof of possession of the client attestation';

/** A proof of the request was used before. Of two, both must be new: the guard does not say which one was used. */
export const proofUsedError = ({ hasPop, hasDpop }: { hasPop: boolean; hasDpop: boolean }): AppError => {
  if (!hasPop) return dpopError(PROOF_USED);
  return attestationError(`${POP}${hasDpop ? ' or the DPoP proof' : ''} has already been used`);
};

/** A wallet that attested itself. */
export interface AttestedClient {
  /** Thumbprint of the attested key. */
  instanceJkt: string;
  /** The value that the proof of possession spends; none in combined mode, where the DPoP proof is that proof. */
  spends: SingleUseValue[];
}

/** Wallets that attest themselves, at the token and the PAR endpoint (attestation-based client authentication, HAIP 1.0 §4.4.1). */
@Injectable()
export class ClientAttestations {
  constructor(
    private readonly macs: Macs,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A challenge for proofs of possession, stateless as a nonce. */
  makeChallenge(tenantId: string): string {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    return makeNonce(this.macs, tenantId, expiresAt, 'attestation_challenge');
  }

  /**
   * Authenticates a wallet that has root certificates; every other one is a public client, for which it returns undefined.
   * @param proof of the same request, verified
   * @throws AppError 401 `invalid_client`, 400 for what the wallet must send again
   */
  async authenticate(
    { headers }: Pick<RawRequest, 'headers'>,
    { clientId, rootCertificates, dpopRequired }: RegisteredWallet,
    proof: DpopProof | undefined,
    tenant: TenantContext,
  ): Promise<AttestedClient | undefined> {
    if (!rootCertificates) return undefined;
    const { 'oauth-client-attestation': attestation, 'oauth-client-attestation-pop': pop } = headers;
    if (attestation === undefined)
      throw attestationError('the header OAuth-Client-Attestation is required of this client');
    const now = this.clock.now();
    try {
      const anchors = await loadTrustAnchors(rootCertificates);
      const instance = await verifyClientAttestation(attestation, { clientId, anchors, now });
      if (dpopRequired) {
        checkCombined(instance, pop, proof);
        return { instanceJkt: instance.jkt, spends: [] };
      }
      if (pop === undefined)
        throw attestationError('the header OAuth-Client-Attestation-PoP is required of this client');
      const audiences = [tenant.baseUrl, new URL(tenant.baseUrl).host];
      const proven = verifyAttestationPop(pop, { instance, audiences, now });
      this.checkChallenge(proven, tenant.id, now);
      const { expiresAt } = proven;
      const spent: SingleUseValue = { scope: 'attestation-pop', value: `${instance.jkt}.${proven.jti}`, expiresAt };
      return { instanceJkt: instance.jkt, spends: [spent] };
    } catch (error) {
      if (error instanceof InvalidClientAttestation) throw attestationError(error.message, error.code);
      throw error;
    }
  }

  private checkChallenge({ challenge }: AttestationPop, tenantId: string, now: Date): void {
    if (challenge === undefined) return;
    const known = verifyNonce(this.macs, tenantId, challenge, 'attestation_challenge');
    if (!known || known.expiresAt <= now)
      throw attestationError('the challenge is unknown or has expired', 'use_attestation_challenge', {
        'oauth-client-attestation-challenge': this.makeChallenge(tenantId),
      });
  }
}

/** Combined mode: one proof, made with the attested key (§5.2, §7.3). */
const checkCombined = (instance: AttestedInstance, pop: string | undefined, proof: DpopProof | undefined): void => {
  if (pop !== undefined)
    throw attestationError(
      'the header OAuth-Client-Attestation-PoP must not be sent: the DPoP proof is the proof of possession',
    );
  if (!proof) throw dpopError('a DPoP proof of the attested key is required of this client');
  if (proof.jkt !== instance.jkt)
    throw attestationError('the DPoP proof must be made with the key in cnf.jwk of the client attestation');
};
