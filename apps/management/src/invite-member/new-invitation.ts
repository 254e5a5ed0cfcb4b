import type { Ids } from '@attestry/event-store';
import { randomSecret, type KeyVault } from '@attestry/keys';
import type { InvitationFacts } from '../tenant/membership.decisions.js';

/**
 * What an invitation is made of. The link's secret stands in the event twice: as the MAC that it is checked by, and sealed under a
 * delivery key of its own, so that the e-mail can be made after a crash too; once it was handed over the key is destroyed,
 * and only the mailbox has the secret.
 * @param registered who is registered is sent nothing
 * @param now RFC 3339
 */
export const newInvitation = async (
  vault: KeyVault,
  ids: Ids,
  tenantId: string,
  registered: boolean,
  now: string,
): Promise<InvitationFacts> => {
  const invitationId = ids.uuid();
  const secret = randomSecret();
  const { sealed: sealedSecret, durable } = registered
    ? { sealed: '', durable: undefined }
    : vault.sealWithNewKey(tenantId, 'delivery', invitationId, secret);
  await durable;
  return { registered, invitationId, secretMac: vault.mac(secret, invitationId), sealedSecret, now };
};
