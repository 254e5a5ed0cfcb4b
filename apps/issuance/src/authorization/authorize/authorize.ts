import { Inject } from '@nestjs/common';
import { authorize, oauthFault, type AppError, type HolderContext, type HttpAnswer } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  CLOCK,
  LOGGER,
  Operation,
  OperationRecorder,
  toAppError,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { AuthorizationOffers } from '../../offers/authorization-offers/authorization-offers.js';
import { checkPushed } from '../../wallets/wallet-clients/check-pushed.js';
import type { ClientClass } from '../../wallets/wallet-clients/classify-client.js';
import { consentPage, type CredentialNames } from '../authorization-request/consent-page.js';
import { forwardableQuery } from '../authorization-request/forwardable-query.js';
import { pageLanguagesOf } from '../authorization-request/page-languages.js';
import { parseAuthorizationRequest, parseClient } from '../authorization-request/parse-authorization-request.js';
import type { AcceptedRequest, RequestingClient } from '../../wallets/wallet-record/accepted-request.js';
import { PendingConsents, type PendingConsent } from '../authorization-request/pending-consents.js';
import { ProviderSignIn } from '../authorization-request/provider-sign-in.js';
import { PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { requestedEntries } from '../authorization-request/requested-entries.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../../formats/formats.js';
import { checkHaipAuthorization } from '../../wallets/haip-profile/check-haip.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { checkTarget } from '../../sessions/authorization-details/check-target.js';
import { IssuerBrands } from '../../issuer/issuer-brands/issuer-brands.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { queryOf, rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { checkDpopParameter } from '../../wallets/registered-wallets/check-wallet.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';

/** An authorization request whose client and redirect address are allowed. */
interface ClassifiedRequest {
  requesting: RequestingClient;
  client: ClientClass;
  /** Parameters of the query, or pushed ones. */
  parameters: URLSearchParams;
  /** Id of the pushed request. */
  pushed?: string;
  /** Thumbprint of the attested key of the wallet that pushed it. */
  instanceJkt?: string;
}

/**
 * Authorization endpoint, OID4VCI §5: redirects the person to the tenant's provider. For a wallet that the issuer does not know it first
 * shows a page on which the person consents (ADR 0085). Recorded for registered wallets (ADR 0087).
 */
@Operation(authorize)
export class Authorize {
  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly wallets: TenantWallets,
    private readonly formats: Formats,
    private readonly brands: IssuerBrands,
    private readonly names: IssuerNames,
    private readonly offers: AuthorizationOffers,
    private readonly consents: PendingConsents,
    private readonly pushed: PushedAuthorizations,
    private readonly signIn: ProviderSignIn,
    readonly recorder: OperationRecorder,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(LOGGER) readonly logger: Logger,
  ) {}

  async execute(request: RequestOf<typeof authorize>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const { baseUrl: issuer } = context.tenant;
    const pageOf = (error: unknown) =>
      refusalPage(toAppError(error, context, this.logger, request), { issuer, requestId: context.requestId });
    let classified: ClassifiedRequest;
    try {
      classified = await this.classify(queryOf(raw), context.tenant.id);
    } catch (error) {
      return pageOf(error);
    }
    const { requesting, client } = classified;
    try {
      return await recordOutcome(this, authorize, context, (record) =>
        this.accept(classified, raw.headers, context, record),
      );
    } catch (error) {
      // A link must not redirect to an address of its author without consent (RFC 9700 §4.11.2).
      if (client.kind === 'unregistered') return pageOf(error);
      const refusal: AppError = toAppError(error, context, this.logger, request);
      return redirectToClient({ ...requesting, issuer }, { ...oauthFault(refusal) });
    }
  }

  /** @throws AppError that is shown on a page */
  private async classify(query: URLSearchParams, tenantId: string): Promise<ClassifiedRequest> {
    const opened = await this.pushed.open(tenantId, query);
    const parameters = opened?.parameters ?? query;
    const requesting = parseClient(parameters);
    const client = await this.wallets.classifyClient(tenantId, requesting, opened !== undefined);
    const { id: pushed, instanceJkt } = opened ?? {};
    return {
      ...{ requesting, client, parameters },
      ...(pushed !== undefined && { pushed }),
      ...(instanceJkt !== undefined && { instanceJkt }),
    };
  }

  private async accept(
    { requesting, client, parameters, pushed, instanceJkt }: ClassifiedRequest,
    headers: ReturnType<typeof rawOf>['headers'],
    context: HolderContext,
    record: WalletRecord,
  ): Promise<HttpAnswer> {
    const { id: tenantId, baseUrl: issuer } = context.tenant;
    const wallet = client.kind === 'registered' ? client.wallet : undefined;
    if (wallet) record.nameWallet(wallet);
    // The wallet that pushed the request has attested itself.
    if (instanceJkt !== undefined) record.proveCaller();
    const settings = await this.wallets.readSettings(tenantId);
    checkPushed(pushed !== undefined, settings);
    const parsed = parseAuthorizationRequest(parameters);
    await checkTarget(parsed, context.tenant.baseUrl, (name) => this.names.includes(context.tenant, name));
    checkHaipAuthorization(settings, parsed);
    // The key of a pushed request is that of its DPoP proof.
    if (pushed === undefined) checkDpopParameter(wallet, parsed.dpopJkt);
    const configurations = await this.configurations.listActive(tenantId);
    const named = requestedEntries(parsed, configurations);
    const requested = await this.offers.restrictRequest(tenantId, parsed, named);
    const { codeChallenge, dpopJkt } = parsed;
    const accepted: AcceptedRequest = {
      ...requesting,
      clientKind: client.kind,
      codeChallenge,
      ...(dpopJkt !== undefined && { dpopJkt }),
      ...(instanceJkt !== undefined && { instanceJkt }),
      ...requested,
      issuer,
      credentialIssuer: await this.names.current(context.tenant),
      ...(pushed !== undefined && { pushed }),
    };
    if (client.kind === 'unregistered') {
      const languages = pageLanguagesOf(parameters, headers);
      const waiting = { ...accepted, query: forwardableQuery(parameters) };
      return this.requestConsent(waiting, configurations, languages, context);
    }
    const { url, cookie } = await this.signIn.start(accepted, parameters.toString(), context);
    return redirect(url, { 'set-cookie': cookie });
  }

  private async requestConsent(
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
