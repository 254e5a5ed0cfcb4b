import { decodeProtectedHeader, jwtVerify, type CryptoKey, type KeyObject } from 'jose';
import { fetchStatusList } from './fetch-status-list.js';

const MEDIA_TYPE = 'application/statuslist+jwt';

/** A fresh token, as verifiers retrieve it: Token Status List §8.1. */
export const fetchStatusListToken = async (uri: string): Promise<string> => {
  const response = await fetchStatusList(uri, MEDIA_TYPE);
  if (!response.ok) throw new Error(`${uri} answered ${response.status}`);
  const mediaType = response.headers.get('content-type');
  if (mediaType !== MEDIA_TYPE) throw new Error(`${uri} has the media type ${mediaType}`);
  return response.text();
};

/** The header `typ`, the times and `sub` of a token: Token Status List §8.3. @throws jose's errors, or Error with what was found */
export const verifyStatusListToken = async (token: string, uri: string, key: CryptoKey | KeyObject): Promise<void> => {
  const { payload } = await jwtVerify(token, key, { typ: 'statuslist+jwt', subject: uri });
  if (typeof payload['ttl'] !== 'number' || payload.exp! < payload.iat! + payload['ttl'])
    throw new Error('the token expires before its time to live ends');
};

/**
 * Checks the status of a credential in a fresh token with @sd-jwt/jwt-status-list.
 * @param loadKey the key that a header names
 * @throws Error for any status but 0, VALID
 */
export const verifyStatus = async (
  status: unknown,
  loadKey: (header: { kid?: string; x5c?: string[] }) => Promise<CryptoKey | KeyObject>,
): Promise<void> => {
  const { getListFromStatusListJWT } = await import('@sd-jwt/jwt-status-list');
  const { idx, uri } = (status as { status_list: { idx: number; uri: string } }).status_list;
  const token = await fetchStatusListToken(uri);
  await verifyStatusListToken(token, uri, await loadKey(decodeProtectedHeader(token)));
  if (getListFromStatusListJWT(token).getStatus(idx) !== 0) throw new Error('Status is not valid');
};
