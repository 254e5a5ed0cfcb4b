/** Webhooks of a tenant that subscribe to issued credentials, from the integration events of webhooks. */
export type DeliveryInterestEvent =
  | { type: 'CredentialDeliveryRequested'; data: { webhookId: string } }
  | { type: 'CredentialDeliveryEnded'; data: { webhookId: string } };
