import { expectStatus, type OperationParts } from '@attestry/testing';
import type { World } from './world.js';
import type { Row } from './row.js';
import { invitation, NO_SUCH } from './things.js';

/** An open invitation, by the link in its e-mail. */
const acceptance = async ({ mail, management, person, tenant }: World): Promise<OperationParts> => {
  const body = invitation();
  // Only those who are not members yet can accept; 404 where the person is none.
  const { id } = expectStatus(await person.user.retrieve(), 200);
  await management.members.delete(tenant.id, id);
  expectStatus(await management.members.invite(tenant.id, body), 200);
  return { body: { token: (await mail.linkTo(body.email)).searchParams.get('token')! } };
};

export const peopleRows: Record<string, Row> = {
  'management.retrieve-user-information': {
    as: 'person',
    right: () => ({}),
    wrong: () => ({ method: 'POST' }),
    refusal: { status: 405 },
  },
  'management.update-user-information': {
    as: 'person',
    right: () => ({ body: { name: 'Ada Lovelace' } }),
    wrong: () => ({ body: { name: '' } }),
    refusal: { status: 400, param: 'name', location: 'body' },
  },
  'management.invite-member': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: invitation() }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { ...invitation(), email: 'nobody' } }),
    refusal: { status: 400, param: 'email', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: invitation() }),
  },
  'management.list-invitations': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.resend-invitation': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.cancel-invitation': {
    right: async ({ management, tenant }) => {
      const { userId } = expectStatus(await management.members.invite(tenant.id, invitation()), 200);
      return { params: { tenantId: tenant.id, userId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.list-members': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.retrieve-member': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.update-membership': {
    right: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, userId: own.member },
      body: { roles: ['issuer', 'auditor'] },
    }),
    wrong: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member }, body: { roles: [] } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: ({ tenant, foreign }) => ({
      params: { tenantId: tenant.id, userId: foreign.member },
      body: { roles: ['issuer'] },
    }),
  },
  'management.delete-membership': {
    right: async ({ management, tenant }) => {
      const { userId } = expectStatus(await management.members.invite(tenant.id, invitation()), 200);
      return { params: { tenantId: tenant.id, userId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.accept-invitation': {
    as: 'person',
    right: acceptance,
    wrong: () => ({ body: { token: 'nonsense' } }),
    refusal: { status: 400, param: 'token', location: 'body' },
  },
};
