/** Needs of a service and addresses that it calls, for the lists that `npm run docs` generates (docs/guides/adding-a-service.md). */
export interface ServiceManifest {
  /** Its responsibility; also the description of its tag in the interface definition. */
  readonly about: string;
  /** Engines beside the bus. */
  readonly engines: readonly ('database' | 'eventStore' | 'redis')[];
  /** Rule of `networkPolicy.egress` in the chart for its connections to addresses other than engines. */
  readonly calls?: 'identityProviders' | 'smtp' | 'tenantAddresses' | 'webhooks';
  /** The same for readers of the guide. */
  readonly outbound?: string;
}

const STORES = ['database', 'eventStore'] as const;

/** The services behind the gateway. */
export const SERVICES = {
  management: {
    about: 'Environments, tenants, clients, members and access tokens.',
    engines: STORES,
    calls: 'smtp',
    outbound: 'the mail server',
  },
  'tenant-config': {
    about: 'Custom domain and authentication provider.',
    engines: STORES,
    calls: 'identityProviders',
    outbound: 'OpenID providers of tenants, DNS',
  },
  dids: {
    about: 'Decentralized identifiers and their documents.',
    engines: STORES,
    calls: 'tenantAddresses',
    outbound: 'did:web documents',
  },
  issuance: {
    about: 'Credential configurations, offers, users and the endpoints for wallets.',
    engines: [...STORES, 'redis'],
    calls: 'tenantAddresses',
    outbound: 'JSON-LD contexts, claims sources',
  },
  webhooks: {
    about: 'Webhooks, their deliveries and the keys that verify signatures.',
    engines: STORES,
    calls: 'webhooks',
    outbound: 'webhook targets',
  },
  analytics: {
    about: 'Analytics events: the calls made to the tenant.',
    engines: STORES,
  },
} as const satisfies Record<string, ServiceManifest>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[];

/** Participants of the bus. */
export type BusParticipant = 'gateway' | ServiceName;

export const PARTICIPANTS: Readonly<Record<BusParticipant, ServiceManifest>> = {
  gateway: {
    about: 'HTTP for both APIs, hosts, tokens, rate limits, access; no business rules.',
    engines: ['redis'],
    calls: 'identityProviders',
    outbound: 'the identity provider of people',
  },
  ...SERVICES,
};
