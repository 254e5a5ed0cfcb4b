/** Which webhooks of a tenant want issued credentials: what issuance keeps of the facts that webhooks publishes. */
export type DeliveryInterestEvent =
  { type: 'DeliveryRequested'; data: { webhookId: string } } | { type: 'DeliveryEnded'; data: { webhookId: string } };
