import { expectStatus, Wallet, type Collected, type CollectOptions, type TenantUnderTest } from '@attestry/testing';
import type { PreAuthorizedOffer, PreAuthorizedOfferRequest } from '@attestry/contracts';

export interface Issuer {
  did: string;
  jwtVc: string;
  webSemantic: string;
}

const claimMappings = { given_name: { mapFrom: 'claims.given_name' }, note: { mapFrom: 'claims.note' } };

/** A did:web on the tenant's own host and a credential configuration of each format. */
export const makeIssuer = async ({ api, host }: TenantUnderTest): Promise<Issuer> => {
  const { did } = expectStatus(await api.dids.create({ method: 'web', options: { url: host } }), 201);
  const request = { type: 'Course', name: 'Course credential', issuer: { name: 'University' }, claimMappings };
  const jwtVc = expectStatus(await api.jwtVc.create({ ...request, issuerDid: did }), 201).id;
  const webSemantic = expectStatus(await api.webSemantic.create({ ...request, issuerDid: did }), 201).id;
  return { did, jwtVc, webSemantic };
};

/** Offers, and redeems with a third-party wallet. */
export const issue = async (
  { api }: TenantUnderTest,
  request: PreAuthorizedOfferRequest,
  options?: CollectOptions,
): Promise<Collected & { issued: PreAuthorizedOffer }> => {
  const issued = expectStatus(await api.offers.create(request), 200);
  const transactionCode = issued.transactionCode;
  const collected = await new Wallet().collect(issued.uri, {
    ...(transactionCode !== undefined && { transactionCode }),
    ...options,
  });
  return { ...collected, issued };
};
