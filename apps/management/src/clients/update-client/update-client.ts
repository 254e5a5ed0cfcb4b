import { updateClient, type TenantClient, type ManagementContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { clientView } from '../client-view/client-view.js';
import { updateClient as decide } from '../../tenants/tenant/tenant.decisions.js';

@Operation(updateClient)
export class UpdateClient {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof updateClient>, context: ManagementContext): Promise<TenantClient> {
    const { tenantId, clientId } = request.params;
    const { name, roles } = request.body;
    await this.changes.decide(updateClient, tenantId, context, (state, caller) =>
      decide(state, { caller, clientId, name, roles }),
    );
    return clientView(clientId, { name, roles });
  }
}
