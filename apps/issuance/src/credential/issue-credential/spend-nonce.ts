import { oauthError } from '@attestry/contracts';
import type { ReplayGuard, SingleUseValue, Spending } from '@attestry/keys';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { singleUseOf } from '../../wallets/dpop/dpop-proofs.js';
import type { KnownNonce } from '../../wallets/nonce/nonce.js';

/**
 * One successful credential request per nonce, all spent or none, with the credential's events (ADR 0059), and the DPoP proof with them: one
 * call of the guard, which fails closed. The proof is also spent where a nonce refuses them.
 */
export const spendNonce = (
  nonces: readonly KnownNonce[],
  tenantId: string,
  guard: Pick<ReplayGuard, 'spending'>,
  proof?: DpopProof,
): Spending => {
  const values: SingleUseValue[] = [];
  for (const { id, expiresAt } of nonces) values.push({ scope: 'c_nonce', value: id, expiresAt });
  return guard.spending(
    tenantId,
    values,
    () =>
      oauthError(
        'invalid_nonce',
        'the c_nonce has already been used: get another from the nonce endpoint for each request',
        { check: 'spend-nonce' },
      ),
    proof && singleUseOf(proof),
  );
};
