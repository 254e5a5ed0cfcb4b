import { Inject } from '@nestjs/common';
import { authorize, oauthFault, type AppError, type HolderContext, type HttpAnswer } from '@attestry/contracts';
import { LOGGER, Operation, toAppError, type Logger, type RequestOf } from '@attestry/service-kit';
import { AuthorizationOffers } from '../authorization-offer/authorization-offers.js';
import type { ClientClass } from '../authorization-request/classify-client.js';
import { consentPage, type CredentialNames } from '../authorization-request/consent-page.js';
import { pageLanguagesOf } from '../authorization-request/page-languages.js';
import type { AcceptedRequest, RequestingClient } from '../authorization-request/pending-authorizations.js';
import { PendingConsents } from '../authorization-request/pending-consents.js';
import { ProviderSignIn } from '../authorization-request/provider-sign-in.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import { IssuerBrands } from '../protocol/issuer-brands.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { queryOf, rawOf } from '../protocol/raw-request.js';
import { checkClientAttestation } from '../wallets/check-wallet.js';
import { TenantWallets } from '../wallets/tenant-wallets.js';
import { parseAuthorizationRequest, parseClient } from './parse-authorization-request.js';
import { requestedEntries } from './requested-entries.js';

/**
 * Authorization endpoint, OID4VCI §5: redirects the person to the tenant's provider. For a wallet that the issuer does not know it first
 * shows a page on which the person consents (ADR 0085).
 */
@Operation(authorize)
export class Authorize {
  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly wallets: TenantWallets,
    private readonly formats: Formats,
    private readonly brands: IssuerBrands,
    private readonly offers: AuthorizationOffers,
    private readonly consents: PendingConsents,
    private readonly signIn: ProviderSignIn,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute(request: RequestOf<typeof authorize>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const query = queryOf(raw);
    const { baseUrl: issuer } = context.tenant;
    const pageOf = (error: unknown) =>
      refusalPage(toAppError(error, context, this.logger), { issuer, requestId: context.requestId });
    let requesting: RequestingClient;
    let client: ClientClass;
    try {
      requesting = parseClient(query);
      client = await this.wallets.classifyClient(context.tenant.id, requesting);
    } catch (error) {
      return pageOf(error);
    }
    try {
      if (client.kind === 'registered') checkClientAttestation(client.wallet);
      const parsed = parseAuthorizationRequest(query, issuer);
      const configurations = await this.configurations.listActive(context.tenant.id);
      const requested = await this.offers.restrictRequest(
        context.tenant.id,
        parsed,
        requestedEntries(parsed, configurations),
      );
      const { codeChallenge, dpopJkt } = parsed;
      const accepted = {
        ...requesting,
        clientKind: client.kind,
        codeChallenge,
        ...(dpopJkt !== undefined && { dpopJkt }),
        ...requested,
        issuer,
      };
      if (client.kind === 'unregistered') return await this.requestConsent(accepted, configurations, raw, context);
      const { url, cookie } = await this.signIn.start(accepted, query.toString(), context);
      return redirect(url, { 'set-cookie': cookie });
    } catch (error) {
      // A link must not redirect to an address of its author without consent (RFC 9700 §4.11.2).
      if (client.kind === 'unregistered') return pageOf(error);
      const refusal: AppError = toAppError(error, context, this.logger);
      return redirectToClient({ ...requesting, issuer }, { ...oauthFault(refusal) });
    }
  }

  private async requestConsent(
    accepted: AcceptedRequest,
    configurations: readonly ActiveConfiguration[],
    raw: ReturnType<typeof rawOf>,
    context: HolderContext,
  ): Promise<HttpAnswer> {
    const query = queryOf(raw);
    const [brand, binding] = await Promise.all([
      this.brands.find({ ...context, caller: { kind: 'public' } }),
      this.consents.begin(context.tenant.id, { ...accepted, query: query.toString() }),
    ]);
    const requested = new Set(accepted.entries.map(({ credentialConfigurationId: id }) => id));
    const credentials = configurations.filter(({ id }) => requested.has(id)).map((it) => this.namesOf(it));
    const { issuer, redirectUri } = accepted;
    return consentPage({ issuer, redirectUri, credentials, brand }, binding, pageLanguagesOf(query, raw.headers));
  }

  private namesOf(configuration: ActiveConfiguration): CredentialNames {
    const { supported } = this.formats.byName[configuration.format].metadataOf(configuration);
    return (supported['credential_metadata'] as { display: CredentialNames }).display;
  }
}
