export class ClientCredentials {
  clientId: string;
  /** Returned once; it cannot be retrieved later. */
  clientSecret: string;
}
