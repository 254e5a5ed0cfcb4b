import type { ContextOf, inviteMember } from '@attestry/contracts';
import type { Ids } from '@attestry/event-store';
import { randomSecret, type Macs, type Sealing } from '@attestry/keys';
import { bytesFor, idFor, sealIdempotently } from '@attestry/service-kit';
import type { InvitationFacts } from '../../tenants/tenant/membership.decisions.js';

/**
 * Input of an invitation. The event contains the link's secret twice: as the MAC for its verification, and sealed under a separate
 * delivery key, so that the e-mail can be composed after a crash too; once it is sent the key is destroyed, and only the mailbox has the secret.
 * @param registered registered users get no e-mail
 * @param now RFC 3339
 */
export const newInvitation = async (
  macs: Macs,
  sealing: Sealing,
  ids: Ids,
  context: ContextOf<typeof inviteMember>,
  tenantId: string,
  registered: boolean,
  now: string,
): Promise<InvitationFacts> => {
  const invitationId = idFor(context, 'invitation', ids);
  const secret = randomSecret(32, bytesFor(context, 'link'));
  const link = registered ? undefined : await sealIdempotently(sealing, tenantId, 'delivery', invitationId, secret);
  return {
    registered,
    invitationId,
    secretMac: macs.mac(secret, invitationId),
    // Read by the decision, which does not run again for a call whose invitation was sent.
    get sealedSecret() {
      return link?.sealed ?? '';
    },
    now,
  };
};
