import { approveDeferredIssuance, type ClientContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { ListedDeferrals } from '../deferred-issuance/listed-deferrals.js';
import { approveDeferral } from '../../sessions/issuance-session/deferred-issuance.decisions.js';

@Operation(approveDeferredIssuance)
export class ApproveDeferredIssuance {
  constructor(private readonly deferrals: ListedDeferrals) {}

  execute({ params }: RequestOf<typeof approveDeferredIssuance>, context: ClientContext): Promise<void> {
    return this.deferrals.decide(params.id, approveDeferral, context);
  }
}
