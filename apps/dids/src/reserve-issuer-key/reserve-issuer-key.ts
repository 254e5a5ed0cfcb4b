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
import { isUnpublished, reservedKey, reserveIssuerKey as decide, type ReserveCommand } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { didWebHost, isDid } from '../did/did-web.js';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { LinkedDomain } from '../linked-domain/linked-domain.directory.js';
import { DidPublication } from '../resolution/did-publication.js';

/** DIDs that are looked up where the request names none and none is COMPLETED: each may take as long as its host. */
const MAX_LOOKED_UP = 3;

@Operation(reserveIssuerKey)
export class ReserveIssuerKey {
  private readonly isPlatformHost: (host: string) => boolean;

  constructor(
    private readonly streams: Streams,
    private readonly lists: DidListsReadModel,
    private readonly publication: DidPublication,
    private readonly domains: LinkedDomain,
    @Inject(CLOCK) private readonly clock: Clock,
    config: PlatformConfig,
  ) {
    this.isPlatformHost = platformHostTest(config);
  }

  async execute({ body }: RequestOf<typeof reserveIssuerKey>, context: TenantServiceContext): Promise<IssuerKey> {
    const { configurationId, algorithms, method, member = 'issuerDid' } = body;
    const commandOf = (named: string) => ({ did: named, configurationId, algorithms, member });
    if (body.did !== undefined) {
      if (!isDid(body.did)) throw invalidBody(member, 'must be a DID', body.did.slice(0, 200));
      await this.lookUp(body.did, context);
      return this.reserve(commandOf(body.did), context, await this.linkedDomain(context));
    }
    const unpublished: string[] = [];
    for await (const candidate of this.lists.issuers(context.tenant.id, configurationId, algorithms, method)) {
      const reserved = await this.reserveUnlessUnsuitable(commandOf(candidate), context);
      if (reserved) return reserved;
      if (unpublished.length < MAX_LOOKED_UP && (await this.isUnpublished(candidate, configurationId, context)))
        unpublished.push(candidate);
    }
    // None is COMPLETED: one of these may have been published since.
    await Promise.all(unpublished.map((candidate) => this.lookUp(candidate, context)));
    const linked = await this.linkedDomain(context);
    for (const candidate of unpublished) {
      const reserved = await this.reserveUnlessUnsuitable(commandOf(candidate), context, linked);
      if (reserved) return reserved;
    }
    const kind = method === undefined ? 'DID' : `did:${method}`;
    const wanted = `an assertion key of type ${algorithms.join(' or ')}`;
    throw invalidBody(
      member,
      unpublished.length > 0
        ? `the tenant has no ${kind} with ${wanted} whose registrationStatus is COMPLETED; publish the initialDidDocument of one, or name another DID`
        : `the tenant has no ${kind} with ${wanted}`,
    );
  }

  /** The retrieval of the DID does the same: the first look-up that finds its document completes it. */
  private async lookUp(named: string, context: TenantServiceContext): Promise<void> {
    const { state } = await this.streams.load(did, didStream(context.tenant.id, named));
    if (state.status === 'active' && !this.isForeign(named, context))
      await this.publication.lookUp(context.tenant.id, state, eventContext(context));
  }

  private async linkedDomain({ tenant }: TenantServiceContext): Promise<string | undefined> {
    return (await this.domains.loadLinkedDomain(tenant.id)).domain;
  }

  private async isUnpublished(
    candidate: string,
    configurationId: string,
    context: TenantServiceContext,
  ): Promise<boolean> {
    const { state } = await this.streams.load(did, didStream(context.tenant.id, candidate));
    return isUnpublished(state, configurationId) && !this.isForeign(candidate, context);
  }

  /** The list may lag: a DID that was deleted meanwhile, or never had such a key, is not chosen, and none that is not published. */
  private async reserveUnlessUnsuitable(
    command: Omit<ReserveCommand, 'isLinked'>,
    context: TenantServiceContext,
    linkedDomain?: string,
  ): Promise<IssuerKey | undefined> {
    try {
      return await this.reserve(command, context, linkedDomain);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'invalid') return undefined;
      throw error;
    }
  }

  /** Created before such hosts were refused at creation (ADR 0051: they would be impersonated). */
  private isForeign(named: string, { tenant }: TenantServiceContext): boolean {
    const host = didWebHost(named);
    return host !== undefined && host !== tenant.host && this.isPlatformHost(host);
  }

  private async reserve(
    command: Omit<ReserveCommand, 'isLinked'>,
    context: TenantServiceContext,
    linkedDomain?: string,
  ): Promise<IssuerKey> {
    if (this.isForeign(command.did, context))
      throw invalidBody(
        command.member,
        "must not be under a host of the platform other than the tenant's own",
        command.did,
      );
    const isLinked = linkedDomain !== undefined && didWebHost(command.did) === linkedDomain;
    const { state } = await this.streams.runDecision(
      did,
      didStream(context.tenant.id, command.did),
      (current) => decide(current, { ...command, isLinked }, this.clock.now()),
      eventContext(context),
    );
    return reservedKey(state, command.configurationId);
  }
}
