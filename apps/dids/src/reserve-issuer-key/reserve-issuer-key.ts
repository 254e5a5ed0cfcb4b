import { Inject } from '@nestjs/common';
import {
  AppError,
  invalidBody,
  reserveIssuerKey,
  type IssuerKey,
  type TenantServiceContext,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import {
  CLOCK,
  eventContext,
  Operation,
  PlatformConfig,
  platformHostTest,
  type RequestOf,
} from '@attestry/service-kit';
import { reservedKey, reserveIssuerKey as decide, type ReserveCommand } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { didWebHost, isDid } from '../did/did-web.js';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';

@Operation(reserveIssuerKey)
export class ReserveIssuerKey {
  private readonly isPlatformHost: (host: string) => boolean;

  constructor(
    private readonly streams: Streams,
    private readonly lists: DidListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
    config: PlatformConfig,
  ) {
    this.isPlatformHost = platformHostTest(config);
  }

  async execute({ body }: RequestOf<typeof reserveIssuerKey>, context: TenantServiceContext): Promise<IssuerKey> {
    const { configurationId, algorithms, method, member = 'issuerDid' } = body;
    if (body.did !== undefined) {
      if (!isDid(body.did)) throw invalidBody(member, 'must be a DID', body.did.slice(0, 200));
      return this.reserve({ did: body.did, configurationId, algorithms, member }, context);
    }
    for await (const candidate of this.lists.issuers(context.tenant.id, configurationId, algorithms, method)) {
      try {
        return await this.reserve({ did: candidate, configurationId, algorithms, member }, context);
      } catch (error) {
        // The list may lag: this DID was deleted meanwhile, or never had such a key. Try the next one.
        if (!(error instanceof AppError && error.kind === 'invalid')) throw error;
      }
    }
    const kind = method === undefined ? 'DID' : `did:${method}`;
    throw invalidBody(member, `the tenant has no ${kind} with an assertion key of type ${algorithms.join(' or ')}`);
  }

  private async reserve(command: ReserveCommand, context: TenantServiceContext): Promise<IssuerKey> {
    const host = didWebHost(command.did);
    // Created before such hosts were refused at creation (ADR 0051: they would be impersonated).
    if (host !== undefined && host !== context.tenant.host && this.isPlatformHost(host))
      throw invalidBody(
        command.member,
        "must not be under a host of the platform other than the tenant's own",
        command.did,
      );
    const { state } = await this.streams.runDecision(
      did,
      didStream(context.tenant.id, command.did),
      (current) => decide(current, command, this.clock.now()),
      eventContext(context),
    );
    return reservedKey(state, command.configurationId);
  }
}
