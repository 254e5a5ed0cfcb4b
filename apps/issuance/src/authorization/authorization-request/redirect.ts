import { httpAnswer, withParameters, type HttpAnswer } from '@attestry/contracts';

/** Where the wallet receives the outcome of its authorization request. */
export interface ClientAddress {
  redirectUri: string;
  state?: string;
  /** Identifier of this authorization server: RFC 9207 §2. */
  issuer: string;
}

/** Parameters of a response (RFC 6749 §4.1.2, RFC 9207 §2): in the wallet's address they would contradict ours. */
const OWN_NAMES = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'];

/** The wallet's address, byte for byte, with the parameters of the response. RFC 6749 §3.1.2 */
export const clientUrl = ({ redirectUri, state, issuer }: ClientAddress, parameters: Record<string, string>): string =>
  withParameters(
    redirectUri,
    new URLSearchParams({ ...parameters, ...(state !== undefined && { state }), iss: issuer }),
    OWN_NAMES,
  );

export const redirectToClient = (
  client: ClientAddress,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): HttpAnswer => redirect(clientUrl(client, parameters), headers);

/** The address may contain a code, which must not reach another page. */
export const redirect = (location: string, headers: Record<string, string> = {}): HttpAnswer =>
  httpAnswer({ status: 302, headers: { location, 'referrer-policy': 'no-referrer', ...headers } });
