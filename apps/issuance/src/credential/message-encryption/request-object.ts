import { jsonFaultPosition, oauthError } from '@attestry/contracts';
import { isObject } from '../../reading/raw-request/raw-request.js';
import type { OpenedRequest } from './message-encryption.js';

/** A string, with the colon that follows the name of a member, or the start or end of an object: all quotation marks are in strings. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** The JSON object of a request of a wallet, plain or encrypted (OID4VCI 1.0 §8.2, §9.1). @throws AppError `invalid_credential_request` */
export const parseRequestObject = ({
  text,
  isEncrypted,
}: Pick<OpenedRequest, 'text' | 'isEncrypted'>): Record<string, unknown> => {
  const subject = isEncrypted ? 'the plaintext of the JWE' : 'the body';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refused(`${subject} must be JSON: ${jsonFaultPosition(text)}`);
  }
  if (!isObject(body)) throw refused(`${subject} must be a JSON object`);
  // The parser keeps one of several members with the same name (RFC 8259 §4). Most wallets write compact JSON, which has all of its members
  // then.
  if (JSON.stringify(body) === text) return body;
  let [written, depth] = [0, 0];
  for (const [token, , colon] of text.matchAll(TOKEN))
    if (token === '{') depth++;
    else if (token === '}') depth--;
    else if (depth === 1 && colon !== undefined) written++;
  if (written > Object.keys(body).length) throw refused(`${subject} must not repeat a member`);
  return body;
};

const refused = (description: string) =>
  oauthError('invalid_credential_request', description, { check: 'request-object' });
