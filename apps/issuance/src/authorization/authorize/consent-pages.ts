import { Injectable } from '@nestjs/common';
import type { HolderContext, HttpAnswer } from '@attestry/contracts';
import { Formats } from '../../formats/formats.js';
import { IssuerBrands } from '../../issuer/issuer-brands/issuer-brands.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { consentPage, type CredentialNames } from '../authorization-request/consent-page.js';
import type { pageLanguagesOf } from '../authorization-request/page-languages.js';
import { PendingConsents, type PendingConsent } from '../authorization-request/pending-consents.js';

/** The page on which a person consents to a wallet that the issuer does not know (ADR 0085). */
@Injectable()
export class ConsentPages {
  constructor(
    private readonly formats: Formats,
    private readonly brands: IssuerBrands,
    private readonly consents: PendingConsents,
  ) {}

  async show(
    pending: PendingConsent,
    configurations: readonly ActiveConfiguration[],
    languages: ReturnType<typeof pageLanguagesOf>,
    context: HolderContext,
  ): Promise<HttpAnswer> {
    const [brand, binding] = await Promise.all([
      this.brands.find({ ...context, caller: { kind: 'public' } }),
      this.consents.begin(context.tenant.id, pending),
    ]);
    const requested = new Set(pending.entries.map(({ credentialConfigurationId: id }) => id));
    const credentials = configurations.filter(({ id }) => requested.has(id)).map((it) => this.namesOf(it));
    const { issuer, redirectUri } = pending;
    return consentPage({ issuer, redirectUri, credentials, brand }, binding, languages);
  }

  private namesOf(configuration: ActiveConfiguration): CredentialNames {
    const { supported } = this.formats.byName[configuration.format].metadataOf(configuration);
    return (supported['credential_metadata'] as { display: CredentialNames }).display;
  }
}
