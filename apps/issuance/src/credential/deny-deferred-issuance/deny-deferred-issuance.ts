import { denyDeferredIssuance, type ClientContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { ListedDeferrals } from '../deferred-issuance/listed-deferrals.js';
import { denyDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';

@Operation(denyDeferredIssuance)
export class DenyDeferredIssuance {
  constructor(private readonly deferrals: ListedDeferrals) {}

  execute({ params }: RequestOf<typeof denyDeferredIssuance>, context: ClientContext): Promise<void> {
    return this.deferrals.decide(params.id, denyDeferral, context);
  }
}
