import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  dpopChallenge,
  httpAnswer,
  oauthError,
  type HttpAnswer,
  type Operation,
  type RawRequest,
  type TenantContext,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs, ReplayGuard, type SingleUseValue, type Spending } from '@attestry/keys';
import { CLOCK, PlatformConfig } from '@attestry/service-kit';
import { TenantWallets } from '../registered-wallets/tenant-wallets.js';
import { InvalidDpopProof, verifyDpopProof, type DpopProof } from './dpop-proof.js';
import { makeNonce, verifyNonce } from '../nonce/nonce.js';

type DpopErrorCode = 'invalid_dpop_proof' | 'use_dpop_nonce';

/** RFC 9449 §5 and §8: 400 of the authorization server. */
export const dpopError = (description: string, code: DpopErrorCode = 'invalid_dpop_proof'): AppError =>
  oauthError(code, description, { check: 'dpop-proofs' });

/** RFC 9449 §7.1 and §9: 401 of a protected resource. */
export const dpopResourceError = (description: string, code: DpopErrorCode = 'invalid_dpop_proof'): AppError =>
  new AppError('unauthenticated', description, {
    code,
    check: 'dpop-proofs',
    headers: dpopChallenge(code, description),
  });

/** A proof is used once per tenant and key: no other key can spend its `jti` before it. */
export const singleUseOf = ({ jkt, jti, expiresAt }: DpopProof): SingleUseValue => ({
  scope: 'dpop',
  value: `${jkt}.${jti}`,
  expiresAt,
});

export const PROOF_USED = 'the DPoP proof has already been used';
export const proofUsedAtResource = (): AppError => dpopResourceError(PROOF_USED);

/** DPoP at the endpoints of wallets (RFC 9449). */
@Injectable()
export class DpopProofs {
  constructor(
    private readonly wallets: TenantWallets,
    private readonly macs: Macs,
    private readonly guard: ReplayGuard,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The proof of the request, not yet spent; undefined without the header. An empty header is an invalid proof.
   * @param accessToken at a protected resource, whose refusals are 401
   * @throws AppError
   */
  async verifyProof(
    { headers, text }: RawRequest,
    { http }: Pick<Operation, 'http'>,
    tenant: TenantContext,
    accessToken?: string,
  ): Promise<DpopProof | undefined> {
    const header = headers['dpop'];
    if (header === undefined) return undefined;
    const refused = accessToken === undefined ? dpopError : dpopResourceError;
    const now = this.clock.now();
    const { method, path } = http!;
    let proof: DpopProof;
    try {
      proof = verifyDpopProof(header, { method, url: `${tenant.baseUrl}${path}`, body: text, now, accessToken });
    } catch (error) {
      if (error instanceof InvalidDpopProof) throw refused(error.message);
      throw error;
    }
    if (proof.nonce !== undefined) {
      // A challenge is as fresh; in combined mode the proof has it (attestation-based client authentication §7.3).
      const known =
        verifyNonce(this.macs, tenant.id, proof.nonce, 'dpop_nonce') ??
        verifyNonce(this.macs, tenant.id, proof.nonce, 'attestation_challenge');
      if (!known || known.expiresAt <= now)
        throw refused('the nonce of the DPoP proof is unknown or has expired', 'use_dpop_nonce');
    } else if ((await this.wallets.readSettings(tenant.id)).dpopNonceRequired)
      throw refused('the DPoP proof must have a nonce of the header DPoP-Nonce', 'use_dpop_nonce');
    return proof;
  }

  nonceHeader(tenantId: string): { 'dpop-nonce': string } {
    const expiresAt = new Date(this.clock.now().getTime() + this.config.nonceSeconds * 1000);
    return { 'dpop-nonce': makeNonce(this.macs, tenantId, expiresAt, 'dpop_nonce') };
  }

  /** Offers a nonce with the answer to a request with a proof, also with an error (RFC 9449 §8.2). */
  async withNonce(tenantId: string, answer: Promise<unknown>): Promise<HttpAnswer> {
    try {
      const body = await answer;
      const offered = this.nonceHeader(tenantId);
      // An encrypted response has headers of its own.
      const own = (body as Partial<HttpAnswer> | undefined)?.$http;
      return httpAnswer(own ? { ...own, headers: { ...own.headers, ...offered } } : { headers: offered, body });
    } catch (error) {
      throw error instanceof AppError ? error.withHeaders(this.nonceHeader(tenantId)) : error;
    }
  }

  /** Spends the proof of a request to a protected resource. */
  spendingOf(tenantId: string, proof: DpopProof): Spending {
    return this.guard.spending(tenantId, [], proofUsedAtResource, singleUseOf(proof));
  }
}
