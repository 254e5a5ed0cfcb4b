import { Inject } from '@nestjs/common';
import {
  configurationOperationOf,
  type ConfigurationOperations,
  type ConfigurationRecord,
  type ContextOf,
} from '@attestry/contracts';
import { EventStoreUnavailable, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { IssuerMaterial } from '../../certificates/issuer-material/issuer-material.js';
import { NamedSources } from '../../claims/claim-sources/named-sources.js';
import { checkRequest, requestedDid } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
import { PublishedSizes } from '../../issuer/published-size/published-size.js';
import { readKeyRequirements } from '../configuration-checks/key-requirements.js';
import { SavedConfigurations } from '../configuration-checks/saved-configurations.js';
import type { TypeOwner } from '../type-claims/type-claims.js';
import { ConfigurationClaims } from './configuration-claims.js';

/**
 * Three streams and no transaction: the type's claim, the DID's reservation, then the configuration. When it is interrupted in between, the
 * claim can be taken over and dids finds that the reservation's configuration does not exist.
 */
@Operation(...configurationOperationOf('create'))
export class CreateCredentialConfiguration {
  constructor(
    private readonly formats: Formats,
    private readonly sources: NamedSources,
    private readonly material: IssuerMaterial,
    private readonly claims: ConfigurationClaims,
    private readonly sizes: PublishedSizes,
    private readonly saved: SavedConfigurations,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<ConfigurationOperations['create']>,
    context: ContextOf<ConfigurationOperations['create']>,
  ): Promise<ConfigurationRecord> {
    const module = this.formats.ofCall(context);
    const { format, resources, sharesTypesWith = format } = module;
    const tenantId = context.tenant.id;
    checkRequest(module, body);
    await this.sources.check(tenantId, body);
    const id = idFor(context, 'configuration', this.ids);
    const owner: TypeOwner = { tenantId, format: sharesTypesWith, type: body.type, owner: id };
    await this.claims.refuseTakenType(owner);
    const keys = await readKeyRequirements(body, this.clock.now());
    const content = { ...(await module.contentOf(body, undefined, context)), ...keys };
    const signer = module.signerOf?.(body) ?? resources.signer;
    await this.material.ensure(context);
    const requested = requestedDid(module, body);
    const { issuerKey, warnings: ofKey = [] } = await this.claims.reserveKey(signer, id, requested, context);
    const createdAt = this.clock.now();
    try {
      const described = { format, type: body.type, ...(issuerKey && { issuerKey }), content };
      const active = { ...described, status: 'active' as const, id, createdAt: createdAt.toISOString(), version: 1 };
      await this.sizes.check(tenantId, active);
      const series = await this.saved.seriesOf(module, described, context);
      await this.claims.claimType(owner, context);
      const created = { id, format, type: body.type, issuerKey, content, createdAt };
      return await this.saved.create(module, created, series, context, ofKey);
    } catch (error) {
      // When the store failed, the configuration may still exist: then its claim and reservation must stay, also those of an earlier
      // attempt of this call.
      if (!(error instanceof EventStoreUnavailable) && !context.idempotentCall?.resumed)
        await this.claims.giveBack(owner, issuerKey?.did, context);
      throw error;
    }
  }
}
