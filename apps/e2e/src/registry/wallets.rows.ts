import { expectStatus } from '@attestry/testing';
import type { World } from './world.js';
import { malformedId, pageRow, type Row } from './row.js';
import { walletRequest } from './things.js';

const attestedWalletRequest = ({ own }: World) => ({
  ...walletRequest(),
  rootCertificates: [own.customer.certificatePem],
});

export const walletsRows: Record<string, Row> = {
  'issuance.create-wallet': {
    right: () => ({ body: walletRequest() }),
    wrong: () => ({ body: { ...walletRequest(), redirectUris: ['intent://x'] } }),
    refusal: { status: 400, param: 'redirectUris.0', location: 'body' },
  },
  'issuance.list-wallets': pageRow,
  'issuance.retrieve-wallet': {
    right: ({ own }) => ({ params: { id: own.wallet } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet } }),
  },
  'issuance.update-wallet': {
    right: async ({ tenant: { api } }) => {
      const body = walletRequest();
      return { params: { id: expectStatus(await api.wallets.create(body), 201).id }, body };
    },
    wrong: ({ own }) => ({ params: { id: own.wallet }, body: { ...walletRequest(), clientId: 'wället' } }),
    refusal: { status: 400, param: 'clientId', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet }, body: walletRequest() }),
  },
  'issuance.delete-wallet': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.wallets.create(walletRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet } }),
  },
  'issuance.create-wallet.attested': {
    right: (world) => ({ body: attestedWalletRequest(world) }),
    wrong: () => ({ body: walletRequest() }),
    refusal: { status: 400, param: 'rootCertificates', location: 'body' },
  },
  'issuance.list-wallets.attested': pageRow,
  'issuance.retrieve-wallet.attested': {
    right: ({ own }) => ({ params: { id: own.attestedWallet } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.attestedWallet } }),
  },
  'issuance.update-wallet.attested': {
    right: async (world) => {
      const body = attestedWalletRequest(world);
      return { params: { id: expectStatus(await world.tenant.api.attestedWallets.create(body), 201).id }, body };
    },
    wrong: ({ own }) => ({
      params: { id: own.attestedWallet },
      body: { ...walletRequest(), rootCertificates: ['-----BEGIN'] },
    }),
    refusal: { status: 400, param: 'rootCertificates.0', location: 'body' },
    foreign: (world) => ({ params: { id: world.foreign.attestedWallet }, body: attestedWalletRequest(world) }),
  },
  'issuance.delete-wallet.attested': {
    right: async (world) => ({
      params: {
        id: expectStatus(await world.tenant.api.attestedWallets.create(attestedWalletRequest(world)), 201).id,
      },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.attestedWallet } }),
  },
  'issuance.retrieve-openid-configuration': {
    right: () => ({}),
    wrong: () => ({ method: 'POST' }),
    refusal: { status: 405 },
  },
  'issuance.update-openid-configuration': {
    // A managed issuer changes nothing else.
    right: () => ({ body: { interactionHook: { url: 'https://hook.example.com/visit', disabled: true } } }),
    wrong: () => ({ body: { allowUnregisteredWallets: 'yes' } }),
    refusal: { status: 400, param: 'allowUnregisteredWallets', location: 'body' },
  },
  'issuance.issue-attestation-challenge': {
    right: () => ({}),
    wrong: () => ({ method: 'GET' }),
    refusal: { status: 405 },
  },
};
