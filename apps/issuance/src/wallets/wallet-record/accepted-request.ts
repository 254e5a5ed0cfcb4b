import type { RequestedEntries } from '../../sessions/authorization-details/authorization-details.js';
import type { ClientClass } from '../wallet-clients/classify-client.js';

/** The wallet's client id and redirect address. */
export interface RequestingClient {
  clientId: string;
  redirectUri: string;
  /** Returned with the response, whatever its value. */
  state?: string;
}

/** An authorization request that was accepted. */
export interface AcceptedRequest extends RequestingClient, RequestedEntries {
  /** The callback accepts no other one. */
  clientKind: ClientClass['kind'];
  codeChallenge: string;
  dpopJkt?: string;
  /** Thumbprint of the attested key of the wallet that pushed the request; the token request must have a proof of it. */
  instanceJkt?: string;
  /** Authorization server: the tenant's host, `iss` of the response (RFC 9207). */
  issuer: string;
  /** Pinned when the request begins, so that a change of the custom domain does not alter it (ADR 0056). */
  credentialIssuer: string;
  /** Id of the pushed request that it is for, which gets one code (`PushedAuthorizations`). */
  pushed?: string;
}
