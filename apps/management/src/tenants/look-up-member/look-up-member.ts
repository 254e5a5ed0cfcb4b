import { lookUpMember, type MemberAnswer } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { rolesOf } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** Read from the tenant's stream, so that a change of roles and the end of a membership or a tenant are never missed. */
@Operation(lookUpMember)
export class LookUpMember {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof lookUpMember>): Promise<MemberAnswer> {
    const { tenantId, userId } = request.body;
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    const roles = state.status === 'active' ? rolesOf(state, { kind: 'user', userId }) : undefined;
    return roles ? { roles } : {};
  }
}
