import { oauthError } from '@attestry/contracts';
import type { UnitWrite } from '@attestry/event-store';
import type { ReplayGuard, SingleUseValue } from '@attestry/keys';
import type { DpopProof } from '../protocol/dpop-proof.js';
import { singleUseOf } from '../protocol/dpop-proofs.js';
import type { KnownNonce } from '../protocol/nonce.js';

/**
 * One successful credential request per nonce, all spent or none, with the credential's events (ADR 0059), and the DPoP proof with them: one
 * call of the guard, which fails closed.
 */
export const spendNonce = (
  nonces: readonly KnownNonce[],
  tenantId: string,
  guard: Pick<ReplayGuard, 'spending'>,
  proof?: DpopProof,
): UnitWrite => {
  const values: SingleUseValue[] = [];
  for (const { id, expiresAt } of nonces) values.push({ scope: 'c_nonce', value: id, expiresAt });
  if (proof) values.push(singleUseOf(proof));
  return guard.spending(tenantId, values, () =>
    oauthError('invalid_nonce', 'the c_nonce has already been used', { check: 'spend-nonce' }),
  );
};
