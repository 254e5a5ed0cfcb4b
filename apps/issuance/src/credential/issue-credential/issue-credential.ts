import { issueCredential, type CredentialResponse, type HttpAnswer } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkTokenBinding } from '../../token/access-token/check-token-binding.js';
import { loadAccessToken } from '../../token/access-token/load-access-token.js';
import { haipSession } from '../../wallets/haip-profile/haip-steps.js';
import type { After } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { CredentialIssuer } from '../credential-issuer/credential-issuer.js';
import { deferredAnswer, DeferredIssuances } from '../deferred-issuance/deferred-issuances.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { encryptAnswer, MessageEncryption } from '../message-encryption/message-encryption.js';
import { CredentialRequests } from './credential-requests.js';

const STEPS = [
  checkContentType,
  checkAccessTokenLocation,
  loadAccessToken,
  checkTokenBinding, // its proof is spent with the credentials, or by a refusal
  haipSession,
] as const;

/** Credential endpoint, OID4VCI §8. */
@Operation(issueCredential)
export class IssueCredential {
  readonly execute: ServedBy<typeof issueCredential>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly encryption: MessageEncryption,
    private readonly requests: CredentialRequests,
    private readonly issuer: CredentialIssuer,
    private readonly deferred: DeferredIssuances,
  ) {
    this.execute = endpoints.serve(issueCredential, STEPS, this);
  }

  async answer(call: After<typeof STEPS>): Promise<CredentialResponse | HttpAnswer> {
    const opened = await this.encryption.openRequest(call, call.tenant.id);
    const { order, responseEncryption } = await this.requests.check(call, opened);
    const isManual = order.configuration.content.approval === 'manual';
    const issued = isManual ? 'claimsNotReady' : await this.issuer.issue(order);
    if (issued === 'claimsNotReady') return deferredAnswer(await this.deferred.defer(order), responseEncryption);
    return responseEncryption ? encryptAnswer(issued, responseEncryption) : issued;
  }
}
