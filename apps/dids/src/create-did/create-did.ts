import { Inject } from '@nestjs/common';
import { createDid, type ContextOf, type DidRecord } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import {
  CLOCK,
  eventContext,
  idFor,
  IDS,
  leavesUnusedKeys,
  Operation,
  PlatformConfig,
  platformHostTest,
  type RequestOf,
} from '@attestry/service-kit';
import { activeDid, checkDidIsFree, createDid as decide } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { DID_WEB_ALGORITHMS, didKeyOf, didWebDocument } from '../did/did-document.js';
import { didRecord } from '../did/did-view.js';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { checkOptions, type DidPlan } from './check-options.js';

@Operation(createDid)
export class CreateDid {
  private readonly isPlatformHost: (host: string) => boolean;

  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
    private readonly lists: DidListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    config: PlatformConfig,
  ) {
    this.isPlatformHost = platformHostTest(config);
  }

  async execute(request: RequestOf<typeof createDid>, context: ContextOf<typeof createDid>): Promise<DidRecord> {
    const { tenant } = context;
    const plan = checkOptions(request.body, tenant, this.isPlatformHost);
    // Keys are created after the DID is known to be free; a call that still loses a race destroys its keys. When the call is retried, the
    // winner may be its own earlier attempt, which the decision finds.
    if (plan.method === 'web' && !context.idempotentCall?.resumed)
      checkDidIsFree((await this.streams.load(did, didStream(tenant.id, plan.did))).state);
    const { kmsKeyIds, command } = await this.makeKeys(plan, tenant.id, context);
    try {
      const created = await this.streams.runDecision(
        did,
        didStream(tenant.id, command.did),
        (state) => decide(state, command, this.clock.now()),
        eventContext(context),
        { once: true },
      );
      await this.lists.settled(created.position);
      return didRecord(activeDid(created.state));
    } catch (error) {
      if (leavesUnusedKeys(context, error)) await this.signingKeys.destroySigningKeys(tenant.id, kmsKeyIds);
      throw error;
    }
  }

  private async makeKeys(plan: DidPlan, tenantId: string, context: ContextOf<typeof createDid>) {
    const algorithms = plan.method === 'key' ? [plan.algorithm] : DID_WEB_ALGORITHMS;
    const keyIds = context.idempotentCall && algorithms.map((algorithm) => idFor(context, algorithm, this.ids));
    const keys = await this.signingKeys.createSigningKeys(tenantId, 'did', algorithms, keyIds);
    const kmsKeyIds = keys.map(({ keyId }) => keyId);
    const command =
      plan.method === 'key'
        ? { ...didKeyOf(keys[0]!), method: plan.method, registrationStatus: 'COMPLETED' as const }
        : { ...didWebDocument(plan.did, keys), method: plan.method, registrationStatus: plan.registrationStatus };
    return { kmsKeyIds, command };
  }
}
