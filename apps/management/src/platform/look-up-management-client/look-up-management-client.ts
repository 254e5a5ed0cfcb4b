import { lookUpManagementClient, type ManagementClientAnswer } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { secretIdOf } from '../client-credentials/secret-id.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
} from '../management-client/management-client.state.js';

@Operation(lookUpManagementClient)
export class LookUpManagementClient {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof lookUpManagementClient>): Promise<ManagementClientAnswer> {
    const { clientId } = request.body;
    if (!isManagementClientId(clientId)) return { exists: false };
    const { state } = await this.streams.load(managementClient, managementClientStream(clientId));
    return state.status === 'active' ? { exists: true, secretId: secretIdOf(state.secretMac) } : { exists: false };
  }
}
