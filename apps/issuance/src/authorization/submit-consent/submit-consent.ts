import { Inject } from '@nestjs/common';
import { oauthFault, submitConsent, type HttpAnswer, type PublicContext } from '@attestry/contracts';
import { LOGGER, Operation, requestFields, toAppError, type Logger, type RequestOf } from '@attestry/service-kit';
import {
  continuePage,
  endedConsentPage,
  refusedConsentPage,
  type IssuerPage,
} from '../authorization-request/consent-page.js';
import { pageLanguagesOf } from '../authorization-request/page-languages.js';
import { consentCookies, PendingConsents, type PendingConsent } from '../authorization-request/pending-consents.js';
import { ProviderSignIn } from '../authorization-request/provider-sign-in.js';
import { clientUrl } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { parseConsentForm } from './parse-consent-form.js';

/** Form of the consent page: continues to the tenant's provider, or ends the request (ADR 0085). */
@Operation(submitConsent)
export class SubmitConsent {
  constructor(
    private readonly consents: PendingConsents,
    private readonly signIn: ProviderSignIn,
    private readonly wallets: TenantWallets,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute(request: RequestOf<typeof submitConsent>, context: PublicContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const form = new URLSearchParams(raw.text);
    const { id: tenantId, baseUrl: issuer } = context.tenant;
    let submitted: ReturnType<typeof parseConsentForm>;
    try {
      submitted = parseConsentForm(raw, form, issuer);
    } catch (error) {
      return this.refusalPageOf(error, context);
    }
    const page = { issuer, languages: pageLanguagesOf(form, raw.headers) };
    const waiting = await this.consents.redeem(tenantId, submitted, raw.headers['cookie']);
    if (!waiting) return endedConsentPage(page);
    if (submitted.decision === 'approve') return this.continueToProvider(waiting, page, context);
    this.logger.info(requestFields(context), 'consent refused');
    return refusedConsentPage(page, { 'set-cookie': consentCookies.drop(submitted.request, issuer) });
  }

  private async continueToProvider(
    { query, ...accepted }: PendingConsent,
    page: IssuerPage,
    context: PublicContext,
  ): Promise<HttpAnswer> {
    try {
      await this.wallets.confirmClient(context.tenant.id, accepted);
    } catch (error) {
      return this.refusalPageOf(error, context);
    }
    try {
      const { url, cookie } = await this.signIn.start(accepted, query, context);
      return continuePage(page, url, { 'set-cookie': cookie });
    } catch (error) {
      const refusal = toAppError(error, context, this.logger);
      return continuePage(page, clientUrl(accepted, { ...oauthFault(refusal) }));
    }
  }

  private refusalPageOf(error: unknown, context: PublicContext): HttpAnswer {
    const { requestId, tenant } = context;
    return refusalPage(toAppError(error, context, this.logger), { issuer: tenant.baseUrl, requestId });
  }
}
