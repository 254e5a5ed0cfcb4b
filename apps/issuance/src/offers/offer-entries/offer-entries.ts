import { Inject, Injectable } from '@nestjs/common';
import { AppError, invalid, type ErrorDetail } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { DeliveryInterest } from '../../registry/delivery-interest/delivery-interest.directory.js';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import { describeClaimFault } from '../../formats/claim-faults.decisions.js';
import { documentSizeFault } from '../../formats/document-size.decisions.js';
import type { OfferFacts } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
import type { OfferEntry } from '../../sessions/issuance-session/issuance-session.events.js';
import type { CheckedEntry } from '../../claims/claim-sets/check-credentials.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import type { UserObject } from '../../formats/map-claims.js';
import { mappingsOf, outermostClaim } from '../../formats/mapped-claims.js';
import { scopeFor } from '../../settings/credential-configuration/scope.js';

/** Claims that are known when an offer is made. */
export interface KnownClaims extends UserObject {
  /** Nothing is added before the credential is issued, except by a claims source: a required claim that it cannot supply must have a value. */
  areComplete?: true;
}

interface EntryFacts extends OfferFacts {
  /** To a webhook: the credential is kept until then. */
  isDelivered: boolean;
}

/** Content of an offer. */
@Injectable()
export class OfferEntries {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly documentSigners: DocumentSigners,
    private readonly interest: DeliveryInterest,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for an id that no configuration of the tenant has, or a credential that could never be issued */
  async resolveEntries(
    tenantId: string,
    entries: readonly CheckedEntry[],
    known: KnownClaims = { claims: {} },
  ): Promise<OfferEntry[]> {
    const configurationIds = entries.map(({ configurationId }) => configurationId);
    const found = await Promise.all(configurationIds.map((id) => this.configurations.find(tenantId, id)));
    const missing = configurationIds.filter((_, index) => !found[index]);
    if (missing.length)
      throw invalid(
        ...missing.map((value) => ({
          value,
          msg: 'must be a credential configuration of this tenant',
          param: 'credentials',
          location: 'body' as const,
        })),
      );
    const now = this.clock.now();
    const isDelivered = known.areComplete === true && (await this.interest.hasSubscription(tenantId));
    const details: ErrorDetail[] = [];
    for (const [index, entry] of entries.entries()) {
      const signerEnd = await this.signerEndOf(tenantId, found[index]!);
      const facts = { now, signerEnd, isDelivered, areComplete: known.areComplete ?? false };
      details.push(...(await this.faultsOf(tenantId, entry, index, found[index]!, known, facts)));
    }
    if (details.length) throw invalid(...details);
    return found.map((configuration) => ({
      credentialConfigurationId: configuration!.id,
      scope: scopeFor(configuration!),
    }));
  }

  /** The first fault of each credential of an entry. */
  private async faultsOf(
    tenantId: string,
    { claimSets }: CheckedEntry,
    index: number,
    configuration: ActiveConfiguration,
    known: KnownClaims,
    facts: EntryFacts,
  ): Promise<ErrorDetail[]> {
    const format = this.formats.byName[configuration.format];
    const isSourced = configuration.content.claimSourceId !== undefined;
    const sets = claimSets.map(({ claims }, set) => ({
      param: `credentials.${index}.claimSets.${set}.claims`,
      claimSet: claims,
    }));
    const details: ErrorDetail[] = [];
    // One after the other: a request must not fill the queue of the worker threads.
    for (const { param, claimSet } of sets.length ? sets : [{ param: 'claims', claimSet: {} }]) {
      const from = {
        ...known,
        claims: { ...known.claims, ...claimSet },
        // Only a claim set is merged after the claims source, and authenticationProvider is no claim (ADR 0093).
        ...(isSourced && { finalClaims: new Set(Object.keys(claimSet)) }),
      };
      const isKept = facts.isDelivered || configuration.content.persist === true;
      const fault = await this.faultOf(tenantId, configuration, from, isKept);
      const times = fault === undefined ? format.timesFaultOf?.(configuration, from, facts) : undefined;
      const reason = fault ?? times?.msg;
      if (reason === undefined) continue;
      const msg = `must fit credential configuration ${configuration.id}: ${reason}`;
      // Once for all claim sets.
      if (times?.of === 'configuration')
        return [{ value: configuration.id, msg, param: 'credentials', location: 'body' }];
      details.push({ msg, param, location: 'body' });
    }
    return details;
  }

  private async signerEndOf(
    tenantId: string,
    { format, type, content }: ActiveConfiguration,
  ): Promise<Date | undefined> {
    const module = this.formats.byName[format];
    if (!module.timesFaultOf || module.resources.signer.kind !== 'documentSigner') return undefined;
    return this.documentSigners.endOfSigner(tenantId, { docType: type, hasStatus: content.revocable === true });
  }

  private async faultOf(
    tenantId: string,
    configuration: ActiveConfiguration,
    known: KnownClaims,
    isKept: boolean,
  ): Promise<string | undefined> {
    const format = this.formats.byName[configuration.format];
    const fault = await format.check(tenantId, configuration, known);
    if (fault) return describeClaimFault(fault);
    if (!known.areComplete) return undefined;
    try {
      // The issuance maps the claims in the same way.
      const used = new Set(
        mappingsOf(this.formats.byName[configuration.format], configuration).flatMap(outermostClaim),
      );
      const unusedClaims = Object.keys(known.claims).filter((name) => !used.has(name));
      const claims = format.mapClaims(configuration, { ...known, unusedClaims });
      return isKept ? documentSizeFault(format, claims) : undefined;
    } catch (error) {
      if (error instanceof AppError && error.code === 'credential_request_denied') return error.message;
      throw error;
    }
  }
}
