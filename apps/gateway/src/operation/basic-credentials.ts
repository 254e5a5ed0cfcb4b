import { isUtf8 } from 'node:buffer';
import { oauthError } from '@attestry/contracts';

const MALFORMED =
  'Basic credentials must be client_id:client_secret in Base64, each form-urlencoded (RFC 6749 section 2.3.1)';
const TWICE = 'Client credentials must be either in the Authorization header or in the body';

export const hasBasicScheme = (header: string | undefined): boolean => /^basic(?: |$)/i.test(header ?? '');

/** RFC 6749 §2.3.1: each is form-urlencoded before they are joined. @throws AppError 400 */
const basicCredentials = (header: string): { client_id: string; client_secret: string } => {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const [, id, secret] = /^([^:]+):(.+)$/s.exec(isUtf8(bytes) ? bytes.toString() : '') ?? [];
  if (id === undefined || secret === undefined) throw oauthError('invalid_request', MALFORMED);
  try {
    const [client_id, client_secret] = [id, secret].map((text) => decodeURIComponent(text.replaceAll('+', ' ')));
    return { client_id: client_id!, client_secret: client_secret! };
  } catch {
    throw oauthError('invalid_request', MALFORMED);
  }
};

/**
 * The body of a token call with the credentials of its `Authorization` header, if these are of the scheme Basic. The body may repeat
 * the client id (RFC 6749 §3.2.1), but not authenticate the client a second time (§2.3).
 * @throws AppError 400
 */
export const withBasicCredentials = (body: unknown, header: string | undefined): unknown => {
  if (!hasBasicScheme(header) || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const credentials = basicCredentials(header!);
  // A parameter without a value counts as omitted (§3.2).
  const { client_id: id, client_secret: secret } = body as { client_id?: unknown; client_secret?: unknown };
  if ((id && id !== credentials.client_id) || secret) throw oauthError('invalid_request', TWICE);
  return { ...body, ...credentials };
};
