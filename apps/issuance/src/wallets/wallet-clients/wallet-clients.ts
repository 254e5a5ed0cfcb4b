import { Injectable } from '@nestjs/common';
import type { AppError, Operation, RawRequest, TenantContext } from '@attestry/contracts';
import type { UnitWrite } from '@attestry/event-store';
import { ReplayGuard, type SingleUseValue } from '@attestry/keys';
import { checkEnabled } from '../registered-wallets/check-wallet.js';
import { TenantWallets } from '../registered-wallets/tenant-wallets.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';
import { notRegistered } from './check-registration.js';
import { attestationError, ClientAttestations, proofUsedError } from '../client-attestation/client-attestations.js';
import type { DpopProof } from '../dpop/dpop-proof.js';
import { DpopProofs, singleUseOf } from '../dpop/dpop-proofs.js';

/** The client of a request, and the keys that it proved. */
export interface WalletClient {
  /** Registered under the `client_id` of the request. */
  wallet?: RegisteredWallet;
  /** Not yet spent. */
  proof?: DpopProof;
  /** Thumbprint of the key that the wallet's provider attests. */
  instanceJkt?: string;
  /** Values that the proofs of the request spend. */
  spends: SingleUseValue[];
  /** The refusal when one of them was used before. */
  used(): AppError;
}

/** Client authentication of the token and the revocation endpoint (RFC 6749 §2.3, RFC 7009 §2.1). */
@Injectable()
export class WalletClients {
  constructor(
    private readonly wallets: TenantWallets,
    private readonly dpop: DpopProofs,
    private readonly attestations: ClientAttestations,
    private readonly guard: ReplayGuard,
  ) {}

  /** @throws AppError when the client may not use the endpoint */
  async authenticate(
    raw: RawRequest,
    operation: Pick<Operation, 'http'>,
    clientId: string | undefined,
    tenant: TenantContext,
  ): Promise<WalletClient> {
    // The client would not be authenticated, although it believes that it was (attestation-based client authentication §5.1).
    if (clientId === undefined && raw.headers['oauth-client-attestation'] !== undefined)
      throw attestationError('client attestation: sub must name the client of a request without client_id');
    const wallet = clientId === undefined ? undefined : await this.wallets.findWallet(tenant.id, clientId);
    if (wallet) checkEnabled(wallet);
    return this.prove(raw, operation, tenant, wallet);
  }

  /** The keys that a request proves. @param wallet that it names, which is not disabled @throws AppError */
  async prove(
    raw: RawRequest,
    operation: Pick<Operation, 'http'>,
    tenant: TenantContext,
    wallet: RegisteredWallet | undefined,
  ): Promise<WalletClient> {
    const proof = await this.dpop.verifyProof(raw, operation, tenant);
    const attested = wallet && (await this.attestations.authenticate(raw, wallet, proof, tenant));
    const possession = attested?.spends ?? [];
    return {
      ...(wallet && { wallet }),
      ...(proof && { proof }),
      ...(attested && { instanceJkt: attested.instanceJkt }),
      spends: [...possession, ...(proof ? [singleUseOf(proof)] : [])],
      used: () => proofUsedError({ hasPop: possession.length > 0, hasDpop: proof !== undefined }),
    };
  }

  /** After an append, whose wallet may have ended meanwhile. @throws AppError when it has */
  async confirm(tenantId: string, wallet: RegisteredWallet): Promise<void> {
    const current = await this.wallets.findWallet(tenantId, wallet.clientId);
    if (current?.id !== wallet.id) throw notRegistered();
    checkEnabled(current);
  }

  /** Spends the proofs of a request with its events: one call of the guard for all (ADR 0089). */
  spendingOf(tenantId: string, { spends, used }: WalletClient): UnitWrite[] {
    return spends.length > 0 ? [this.guard.spending(tenantId, spends, used)] : [];
  }

  /** For a request that appends nothing with which its proofs could be spent. @throws AppError */
  async spend(tenantId: string, { spends, used }: WalletClient): Promise<void> {
    if (spends.length > 0 && !(await this.guard.spendAll(tenantId, spends))) throw used();
  }
}
