// The wings of the services that have them: the folders in `src/`, the lowest first, and what each holds. A file imports from its own wing
// and from those before it (structure.mjs). docs/architecture.md shows these lists; npm run docs writes them there (service-lists.mjs).

/** By service and wing. @type {Record<string, Record<string, string>>} */
export const WINGS = {
  issuance: {
    reading: 'How requests and stored states are read: raw requests, pages, states a second old.',
    settings: 'What a tenant sets and every wing reads: OpenID settings, credential configurations, withdrawn domains.',
    sessions: 'The streams of an issuance: its offer, its session, the issued credential; codes and tokens.',
    certificates: 'IACAs, document signers, issuer signers, encryption keys: how they are made, renewed and revoked.',
    'status-lists': 'Status lists, their indexes, encodings and publication.',
    vocabularies: 'JSON-LD contexts and type metadata.',
    formats: 'One folder for each credential format, and how claims are mapped to credentials.',
    wallets:
      'Registered wallets, and what a wallet presents: attestations, DPoP proofs, nonces; the record of its calls.',
    users: 'Users, their search and their erasure.',
    claims: 'Where claims come from: claim sets of offers, sign-ins, claims sources; which of them a credential gets.',
    registry: 'Issued credentials: lists, status, revocation, deletion.',
    issuer: 'The names and domains under which a tenant issues, its brand, its OpenID configuration.',
    configurations: 'Operations on credential configurations.',
    offers: 'Operations on offers.',
    authorization: 'The authorization request: sign-in, consent, interaction hook, code.',
    token: 'The token endpoint, refresh and revocation, and the check of access tokens.',
    credential: 'The credential endpoint, deferred issuance and notifications.',
    metadata: 'What wallets and verifiers read about the issuer.',
  },
  management: {
    users: 'Management users and what is known about people.',
    platform: 'Management clients, and how secrets of clients are checked.',
    tenants: 'Tenants, their directory, lists, events and purge; environments.',
    clients: 'Operations on the clients of a tenant.',
    people: 'Members, invitations, accounts and the built-in sign-in.',
    tokens: 'Token endpoint, revocation and token keys.',
  },
};
