/** Webhooks of a tenant that subscribe to issued credentials, from the integration events of webhooks. */
export type DeliveryInterestEvent =
  { type: 'DeliveryRequested'; data: { webhookId: string } } | { type: 'DeliveryEnded'; data: { webhookId: string } };
