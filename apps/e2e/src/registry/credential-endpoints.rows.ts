import { makeHolderKey } from '@attestry/testing';
import type { Row } from './row.js';
import { form, freshOffer, wallet } from './things.js';

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

const codeOf = (uri: string): string => {
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, Record<string, string>>;
  };
  return offer.grants[PRE_AUTHORIZED]!['pre-authorized_code']!;
};

export const credentialEndpointsRows: Record<string, Row> = {
  'issuance.exchange-token': {
    right: async (world) => ({
      body: form({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': codeOf((await freshOffer(world)).uri) }),
    }),
    wrong: () => ({ body: form({ grant_type: 'password', username: 'a', password: 'b' }) }),
    refusal: { status: 400, error: 'unsupported_grant_type' },
  },
  'issuance.revoke-wallet-token': {
    right: () => ({ body: form({ token: 'not-a-token' }) }),
    wrong: () => ({ body: form({ client_id: 'wallet' }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'issuance.issue-nonce': { right: () => ({}), wrong: () => ({ method: 'GET' }), refusal: { status: 405 } },
  'issuance.issue-credential': {
    right: async (world) => {
      const { uri } = await freshOffer(world);
      const offer = await wallet.resolveOffer(uri);
      const metadata = await wallet.metadata(offer.credential_issuer);
      const token = await wallet.accessToken(offer, metadata);
      const key = await makeHolderKey();
      const proof = await wallet.proof(metadata, world.own.jwtVc, key, await wallet.nonce(metadata));
      return { token, body: { credential_configuration_id: world.own.jwtVc, proofs: { jwt: [proof] } } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
  'issuance.record-notification': {
    right: async (world) => {
      const offer = await wallet.resolveOffer((await freshOffer(world)).uri);
      const metadata = await wallet.metadata(offer.credential_issuer);
      const token = await wallet.accessToken(offer, metadata);
      const keys = [await makeHolderKey()];
      const answer = await wallet.requestCredentials(metadata, token, world.own.jwtVc, keys);
      return { token, body: { notification_id: answer.notification_id!, event: 'credential_accepted' } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
};
