import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  oauthError,
  oauthFault,
  type HolderContext,
  type HttpAnswer,
  type Operation,
} from '@attestry/contracts';
import { LOGGER, toAppError, type Logger } from '@attestry/service-kit';
import { WalletRecords, type WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import type { AcceptedRequest } from '../../wallets/wallet-record/accepted-request.js';
import { redirectToClient } from './redirect.js';
import { refusalPage } from './refusal-page.js';

/** The wallet gets its code, or the browser goes on elsewhere. */
export type AuthorizationStep = { code: string } | HttpAnswer;

/** Answers of the pages that a browser returns to during an authorization request. */
@Injectable()
export class AuthorizationAnswers {
  constructor(
    private readonly records: WalletRecords,
    private readonly wallets: TenantWallets,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The request was redeemed, has expired, or began in another browser. */
  refuseUnknown(context: HolderContext): HttpAnswer {
    const refusal = oauthError(
      'invalid_request',
      'the sign-in has ended or was started in another browser; start again in the wallet',
      { check: 'complete-authorization' },
    );
    return this.page(toAppError(refusal, context, this.logger), context);
  }

  /** @param cookie that is dropped @param run is not called when the wallet is not allowed any more */
  async answer(
    operation: Operation,
    waiting: AcceptedRequest,
    context: HolderContext,
    cookie: string,
    run: (record: WalletRecord) => Promise<AuthorizationStep>,
  ): Promise<HttpAnswer> {
    const headers = { 'set-cookie': cookie };
    const clientRefusal = await this.findClientRefusal(waiting, context);
    try {
      const step = await this.records.record(operation, context, async (record) => {
        record.nameClient(waiting);
        if (clientRefusal) throw clientRefusal;
        return run(record);
      });
      return 'code' in step ? redirectToClient(waiting, step, headers) : step;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Already recorded and logged. Only a wallet that is still allowed receives the error at its redirect address (RFC 6749 §4.1.2.1).
      return clientRefusal
        ? this.page(error, context, headers)
        : redirectToClient(waiting, { ...oauthFault(error) }, headers);
    }
  }

  private async findClientRefusal(waiting: AcceptedRequest, context: HolderContext): Promise<AppError | undefined> {
    try {
      await this.wallets.confirmClient(context.tenant.id, waiting);
      return undefined;
    } catch (error) {
      return toAppError(error, context, this.logger);
    }
  }

  private page(
    refusal: AppError,
    { tenant, requestId }: HolderContext,
    headers: Record<string, string> = {},
  ): HttpAnswer {
    return refusalPage(refusal, { issuer: tenant.baseUrl, requestId }, headers);
  }
}
