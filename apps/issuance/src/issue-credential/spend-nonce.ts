import { oauthError } from '@attestry/contracts';
import type { ReplayGuard, SingleUseValue } from '@attestry/keys';
import type { KnownNonce } from '../protocol/nonce.js';

/** One successful credential request per nonce, all spent or none, after all other checks (ADR 0059). The guard fails closed. */
export const spendNonce = async (
  nonces: readonly KnownNonce[],
  tenantId: string,
  guard: ReplayGuard,
): Promise<void> => {
  const values: SingleUseValue[] = [];
  for (const { id, expiresAt } of nonces) values.push({ scope: 'c_nonce', value: id, expiresAt });
  if (!(await guard.spendAll(tenantId, values)))
    throw oauthError('invalid_nonce', 'the c_nonce has already been used', { check: 'spend-nonce' });
};
