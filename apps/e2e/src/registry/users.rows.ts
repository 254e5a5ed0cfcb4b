import { expectStatus, waitUntil } from '@attestry/testing';
import type { World } from './world.js';
import { pageRow, type Row } from './row.js';
import { freshOffer, wallet } from './things.js';

const freshUser = async ({ tenant }: World) => expectStatus(await tenant.api.users.create(), 201).id;

/** Id of a user whose credential the platform has recorded. */
const userWithCredential = async (world: World): Promise<string> => {
  const { userId, uri } = await freshOffer(world);
  await wallet.collect(uri);
  const { users } = world.tenant.api;
  const isListed = async () => expectStatus(await users.credentials(userId), 200).data.length > 0;
  await waitUntil(isListed, { what: 'the record of a credential' });
  return userId;
};

export const usersRows: Record<string, Row> = {
  'issuance.create-user': {
    right: () => ({ body: { claims: { given_name: 'Grace' } } }),
    wrong: () => ({ body: { claims: 'Grace' } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
  },
  'issuance.list-users': pageRow,
  'issuance.search-users': {
    right: () => ({ body: { claims: { given_name: 'Grace' } } }),
    wrong: () => ({ body: { claims: 'Grace' } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
  },
  'issuance.retrieve-user': {
    right: ({ own }) => ({ params: { id: own.user } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user } }),
  },
  'issuance.update-user': {
    right: async (world) => ({ params: { id: await freshUser(world) }, body: { claims: { given_name: 'Augusta' } } }),
    wrong: ({ own }) => ({ params: { id: own.user }, body: { claims: ['Ada'] } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user }, body: { claims: { given_name: 'Augusta' } } }),
  },
  'issuance.delete-user': {
    right: async (world) => ({ params: { id: await freshUser(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user } }),
  },
  'issuance.list-user-credentials': {
    right: async (world) => ({ params: { userId: await userWithCredential(world) } }),
    wrong: () => ({ params: { userId: 'no-uuid' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { userId: foreign.user } }),
  },
};
