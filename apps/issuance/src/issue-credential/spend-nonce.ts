import { oauthError } from '@attestry/contracts';
import type { ReplayGuard } from '@attestry/keys';
import type { KnownNonce } from '../protocol/nonce.js';

/** One successful credential request per nonce, spent after all other checks (ADR 0059). The guard fails closed. */
export const spendNonce = async (
  nonces: readonly KnownNonce[],
  tenantId: string,
  guard: ReplayGuard,
): Promise<void> => {
  const spent: Promise<boolean>[] = [];
  for (const { id, expiresAt } of nonces) spent.push(guard.spend(`c_nonce:${tenantId}`, id, expiresAt));
  if ((await Promise.all(spent)).includes(false))
    throw oauthError('invalid_nonce', 'the c_nonce has already been used', { check: 'spend-nonce' });
};
