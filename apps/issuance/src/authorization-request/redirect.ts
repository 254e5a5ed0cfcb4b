import { httpAnswer, type HttpAnswer } from '@attestry/contracts';

/** Where the wallet receives the outcome of its authorization request. */
export interface ClientAddress {
  redirectUri: string;
  state?: string;
  /** Identifier of this authorization server: RFC 9207 §2. */
  issuer: string;
}

/** The wallet's address with the parameters of the response; its own query is kept. RFC 6749 §4.1.2 */
export const clientUrl = (
  { redirectUri, state, issuer }: ClientAddress,
  parameters: Record<string, string>,
): string => {
  const url = new URL(redirectUri);
  const all = { ...parameters, ...(state !== undefined && { state }), iss: issuer };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
};

export const redirectToClient = (
  client: ClientAddress,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): HttpAnswer => redirect(clientUrl(client, parameters), headers);

/** The address may contain a code, which must not reach another page. */
export const redirect = (location: string, headers: Record<string, string> = {}): HttpAnswer =>
  httpAnswer({ status: 302, headers: { location, 'referrer-policy': 'no-referrer', ...headers } });
