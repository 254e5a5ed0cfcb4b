import { DeferredCredentialRequest as Declared, oauthError } from '@attestry/contracts';
import { parseResponseEncryption, type ResponseEncryption } from '../message-encryption/encryption-parameters.js';
import type { OpenedRequest } from '../message-encryption/message-encryption.js';
import { parseRequestObject } from '../message-encryption/request-object.js';
import { maxLengthsOf } from '../../reading/raw-request/check-lengths.js';

const MAX_LENGTH = maxLengthsOf(Declared).get('transaction_id')!;

export interface DeferredCredentialRequest {
  transactionId: string;
  /** Encryption that this request asks for: that of the credential request does not count (OID4VCI 1.0 §9.1). */
  responseEncryption?: ResponseEncryption;
}

/** OID4VCI 1.0 §9.1. Unknown members are ignored. @throws AppError */
export const parseDeferredRequest = (opened: OpenedRequest): DeferredCredentialRequest => {
  const { transaction_id: transactionId, credential_response_encryption: requested } = parseRequestObject(opened);
  const responseEncryption = parseResponseEncryption(requested, opened.isEncrypted, opened.policy);
  if (transactionId === undefined) throw refused('transaction_id is missing');
  if (typeof transactionId !== 'string' || transactionId === '') throw refused('transaction_id must be a string');
  if (transactionId.length > MAX_LENGTH) throw refused(`transaction_id must have at most ${MAX_LENGTH} characters`);
  return { transactionId, ...(responseEncryption && { responseEncryption }) };
};

const refused = (description: string) =>
  oauthError('invalid_credential_request', description, { check: 'parse-deferred-request' });
