import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { lookUpManagementClient, ManagementClientAnswer, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { RequestOf } from '@attestry/service-kit';
import { secretIdOf } from '../issue-token/secret-id.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
} from '../management-client/management-client.state.js';

export class LookUpManagementClient {
  constructor(
    readonly request: RequestOf<typeof lookUpManagementClient>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(LookUpManagementClient)
export class LookUpManagementClientHandler implements IQueryHandler<LookUpManagementClient> {
  constructor(private readonly streams: Streams) {}

  async execute({ request }: LookUpManagementClient): Promise<ManagementClientAnswer> {
    const { clientId } = request.body;
    if (!isManagementClientId(clientId)) return { exists: false };
    const { state } = await this.streams.load(managementClient, managementClientStream(clientId));
    return state.status === 'active' ? { exists: true, secretId: secretIdOf(state.secretMac) } : { exists: false };
  }
}
