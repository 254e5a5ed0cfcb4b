import { Inject } from '@nestjs/common';
import { authorize, oauthFault, type AppError, type HolderContext, type HttpAnswer } from '@attestry/contracts';
import { LOGGER, Operation, toAppError, type Logger, type RequestOf } from '@attestry/service-kit';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { queryOf, rawOf } from '../../reading/raw-request/raw-request.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { checkPushed } from '../../wallets/wallet-clients/check-pushed.js';
import type { ClientClass } from '../../wallets/wallet-clients/classify-client.js';
import type { AcceptedRequest, RequestingClient } from '../../wallets/wallet-record/accepted-request.js';
import { WalletRecords, type WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { AuthorizationRequests } from '../authorization-request/authorization-requests.js';
import { forwardableQuery } from '../authorization-request/forwardable-query.js';
import { pageLanguagesOf } from '../authorization-request/page-languages.js';
import { parseClient } from '../authorization-request/parse-authorization-request.js';
import { ProviderSignIn } from '../authorization-request/provider-sign-in.js';
import { PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { ConsentPages } from './consent-pages.js';

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
    private readonly records: WalletRecords,
    private readonly requests: AuthorizationRequests,
    private readonly wallets: TenantWallets,
    private readonly names: IssuerNames,
    private readonly consentPages: ConsentPages,
    private readonly pushed: PushedAuthorizations,
    private readonly signIn: ProviderSignIn,
    @Inject(LOGGER) private readonly logger: Logger,
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
      return await this.records.record(authorize, context, (record) =>
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
      requesting,
      client,
      parameters,
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
    checkPushed(pushed !== undefined, await this.wallets.readSettings(tenantId));
    // The parameter of a pushed request is the key of its DPoP proof.
    const sender = pushed === undefined ? wallet : undefined;
    const { parsed, requested, configurations } = await this.requests.check(parameters, context.tenant, sender);
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
      return this.consentPages.show(waiting, configurations, languages, context);
    }
    const { url, cookie } = await this.signIn.start(accepted, parameters.toString(), context);
    return redirect(url, { 'set-cookie': cookie });
  }
}
