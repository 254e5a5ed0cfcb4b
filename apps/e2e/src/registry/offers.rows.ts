import type { World } from './world.js';
import { pageRow, type Row } from './row.js';
import { freshOffer, storedOfferOf } from './things.js';

/** Reference in the address of a new offer. */
const freshReference = async (world: World): Promise<string> =>
  new URL((await freshOffer(world)).qrUrl).pathname.split('/').at(-2)!;

export const offersRows: Record<string, Row> = {
  'issuance.create-offer': {
    right: ({ own }) => ({ body: { credentials: [own.jwtVc] } }),
    wrong: () => ({ body: { credentials: ['no-uuid'] } }),
    refusal: { status: 400, param: 'credentials', location: 'body' },
  },
  'issuance.delete-offer': {
    right: async ({ tenant, own }) => ({ params: { id: await storedOfferOf(tenant.api, own.jwtVc) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.storedOffer } }),
  },
  'issuance.create-pre-authorized-offer': {
    right: ({ own }) => ({ body: { credentials: [own.jwtVc] } }),
    wrong: ({ own }) => ({ body: { credentials: [own.jwtVc], expiresIn: { minutes: 11 } } }),
    refusal: { status: 400, param: 'expiresIn.minutes', location: 'body' },
  },
  'issuance.retrieve-pre-authorized-offer': {
    right: ({ own }) => ({ params: { id: own.offer } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.offer } }),
  },
  'issuance.delete-pre-authorized-offer': {
    right: async (world) => ({ params: { id: (await freshOffer(world)).id } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.offer } }),
  },
  'issuance.list-pre-authorized-offers': pageRow,
  'issuance.retrieve-offer-content': {
    right: async (world) => ({ params: { reference: await freshReference(world) } }),
    wrong: ({ own }) => ({ params: { reference: `${own.offer}.not-its-secret` } }),
    refusal: { status: 404 },
  },
  'issuance.retrieve-offer-qr-code': {
    right: async (world) => ({ params: { reference: await freshReference(world) } }),
    wrong: ({ own }) => ({ params: { reference: `${own.offer}.not-its-secret` } }),
    refusal: { status: 404 },
  },
};
