import { checkDid, type DidExistence, type TenantServiceContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { did, didStream } from '../did/did.state.js';
import { isDid } from '../did/did-web.js';

@Operation(checkDid)
export class CheckDid {
  constructor(private readonly streams: Streams) {}

  async execute({ body }: RequestOf<typeof checkDid>, { tenant }: TenantServiceContext): Promise<DidExistence> {
    if (!isDid(body.did)) return { exists: false };
    const { state } = await this.streams.load(did, didStream(tenant.id, body.did));
    return { exists: state.status === 'active' };
  }
}
