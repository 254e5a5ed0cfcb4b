import {
  checkCredentialConfiguration,
  type CheckConfigurationAnswer,
  type TenantServiceContext,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';

@Operation(checkCredentialConfiguration)
export class CheckCredentialConfiguration {
  constructor(private readonly streams: Streams) {}

  async execute(
    { body }: RequestOf<typeof checkCredentialConfiguration>,
    { tenant }: TenantServiceContext,
  ): Promise<CheckConfigurationAnswer> {
    const stream = credentialConfigurationStream(tenant.id, body.configurationId);
    const { state } = await this.streams.load(credentialConfiguration, stream);
    return { exists: state.status === 'active' };
  }
}
