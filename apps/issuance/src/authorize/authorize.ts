import { Inject, type OnApplicationBootstrap } from '@nestjs/common';
import { authorize, oauthFault, type AppError, type HolderContext, type HttpAnswer } from '@attestry/contracts';
import { LOGGER, Operation, PlatformConfig, toAppError, type Logger, type RequestOf } from '@attestry/service-kit';
import { consentPage, type CredentialNames } from '../authorization-request/consent-page.js';
import { needsConsent } from '../authorization-request/needs-consent.js';
import { pageLanguagesOf } from '../authorization-request/page-languages.js';
import type { AcceptedRequest, RequestingClient } from '../authorization-request/pending-authorizations.js';
import { PendingConsents } from '../authorization-request/pending-consents.js';
import { ProviderSignIn } from '../authorization-request/provider-sign-in.js';
import { redirectPolicyOf, type RedirectPolicy } from '../authorization-request/redirect-policy.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import { IssuerBrands } from '../protocol/issuer-brands.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { queryOf, rawOf } from '../protocol/raw-request.js';
import { parseAuthorizationRequest, parseClient } from './parse-authorization-request.js';
import { requestedEntries } from './requested-entries.js';

/**
 * Authorization endpoint, OID4VCI §5: redirects the person to the tenant's provider. For a wallet that the issuer does not know it first
 * shows a page on which the person consents (ADR 0085).
 */
@Operation(authorize)
export class Authorize implements OnApplicationBootstrap {
  private readonly policy: RedirectPolicy;

  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly formats: Formats,
    private readonly brands: IssuerBrands,
    private readonly consents: PendingConsents,
    private readonly signIn: ProviderSignIn,
    @Inject(LOGGER) private readonly logger: Logger,
    config: PlatformConfig,
  ) {
    this.policy = redirectPolicyOf(config);
  }

  onApplicationBootstrap(): void {
    if (this.policy.allowed?.length === 0)
      this.logger.warn('authorization endpoint refuses all wallets: WALLET_REDIRECT_URIS is not set');
  }

  async execute(request: RequestOf<typeof authorize>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const query = queryOf(raw);
    const { baseUrl: issuer } = context.tenant;
    const pageOf = (refusal: AppError) => refusalPage(refusal, { issuer, requestId: context.requestId });
    let client: RequestingClient;
    try {
      client = parseClient(query, this.policy);
    } catch (error) {
      if (!this.policy.rendersPages) throw error;
      return pageOf(toAppError(error, context, this.logger));
    }
    const isUnknown = needsConsent(client.redirectUri, this.policy);
    try {
      const parsed = parseAuthorizationRequest(query, issuer);
      const configurations = await this.configurations.listActive(context.tenant.id);
      const { codeChallenge } = parsed;
      const accepted = { ...client, codeChallenge, ...requestedEntries(parsed, configurations), issuer };
      if (isUnknown) return await this.requestConsent(accepted, configurations, raw, context);
      const { url, cookie } = await this.signIn.start(accepted, query.toString(), context);
      return redirect(url, { 'set-cookie': cookie });
    } catch (error) {
      const refusal = toAppError(error, context, this.logger);
      // A link must not redirect to an address of its author without consent (RFC 9700 §4.11.2).
      return isUnknown ? pageOf(refusal) : redirectToClient({ ...client, issuer }, { ...oauthFault(refusal) });
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
