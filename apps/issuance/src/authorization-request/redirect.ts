import { httpAnswer, type HttpAnswer } from '@attestry/contracts';

/** Where a wallet is told how its authorization request ended. */
export interface ClientAddress {
  redirectUri: string;
  state?: string;
  /** Of this authorization server: RFC 9207 §2. */
  issuer: string;
}

/** Back to the wallet, with what its address has as a query kept. RFC 6749 §4.1.2 */
export const redirectToClient = (
  { redirectUri, state, issuer }: ClientAddress,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): HttpAnswer => {
  const url = new URL(redirectUri);
  const all = { ...parameters, ...(state !== undefined && { state }), iss: issuer };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return redirect(url.href, headers);
};

/** The address may hold a code: no other page is to learn it. */
export const redirect = (location: string, headers: Record<string, string> = {}): HttpAnswer =>
  httpAnswer({ status: 302, headers: { location, 'referrer-policy': 'no-referrer', ...headers } });
