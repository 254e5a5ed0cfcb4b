import { expectStatus } from '@attestry/testing';
import type { World } from './world.js';
import { malformedId, pageRow, publicDocument, type Row } from './row.js';

/** At most 3 are allowed: room for one more. */
const roomForIaca = async ({ tenant: { api }, own }: World): Promise<void> => {
  const { data } = expectStatus(await api.iacas.list(), 200);
  for (const { id } of data)
    if (id !== own.iaca && id !== own.unmanagedIaca) expectStatus(await api.iacas.delete(id), 204);
};

/** At most 5 are allowed. */
const freshSigner = async ({ tenant: { api }, own }: World) => {
  const { data } = expectStatus(await api.documentSigners.list(), 200);
  for (const { id, isManaged } of data)
    if (!isManaged && id !== own.documentSigner) expectStatus(await api.documentSigners.delete(id), 204);
  return expectStatus(await api.documentSigners.create(own.unmanagedIaca), 201);
};

/** At most 3 are allowed. */
const freshListSigner = async ({ tenant: { api }, own }: World) => {
  const { data } = expectStatus(await api.statusListSigners.list(), 200);
  for (const { id, isManaged } of data)
    if (!isManaged && id !== own.statusListSigner) expectStatus(await api.statusListSigners.delete(id), 204);
  return expectStatus(await api.statusListSigners.create(own.unmanagedIaca), 200);
};

export const certificatesRows: Record<string, Row> = {
  'issuance.create-iaca': {
    right: async (world) => {
      await roomForIaca(world);
      return { body: { country: 'AU' } };
    },
    wrong: () => ({ body: { country: 'au' } }),
    refusal: { status: 400, param: 'country', location: 'body' },
  },
  'issuance.list-iacas': pageRow,
  'issuance.retrieve-iaca': {
    right: ({ own }) => ({ params: { id: own.iaca } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.update-iaca': {
    right: ({ own }) => ({ params: { id: own.iaca }, body: { active: true } }),
    wrong: ({ own }) => ({ params: { id: own.iaca }, body: { active: 'yes' } }),
    refusal: { status: 400, param: 'active', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca }, body: { active: true } }),
  },
  'issuance.delete-iaca': {
    right: async (world) => {
      await roomForIaca(world);
      return { params: { id: expectStatus(await world.tenant.api.iacas.create({}), 201).id } };
    },
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.update-iaca-crl': {
    right: async ({ own }) => ({
      params: { id: own.unmanagedIaca },
      body: { crlPem: await own.customer.signCrl() },
    }),
    wrong: ({ own }) => ({ params: { id: own.unmanagedIaca }, body: { crlPem: 'none' } }),
    refusal: { status: 400, param: 'crlPem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.unmanagedIaca }, body: { crlPem: 'none' } }),
  },
  'issuance.retrieve-iaca-crl': {
    right: ({ own }) => ({ params: { id: own.iaca } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.create-document-signer': {
    right: async (world) => {
      expectStatus(await world.tenant.api.documentSigners.delete((await freshSigner(world)).id), 204);
      return { body: { iacaId: world.own.unmanagedIaca } };
    },
    wrong: ({ own }) => ({ body: { iacaId: own.iaca } }),
    refusal: { status: 400, param: 'iacaId', location: 'body' },
  },
  'issuance.list-document-signers': pageRow,
  'issuance.retrieve-document-signer': {
    right: ({ own }) => ({ params: { id: own.documentSigner } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
  'issuance.update-document-signer': {
    right: ({ own }) => ({ params: { id: own.documentSigner }, body: { active: false } }),
    wrong: ({ own }) => ({ params: { id: own.documentSigner }, body: { active: true } }),
    refusal: { status: 400, param: 'certificatePem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner }, body: { active: false } }),
  },
  'issuance.delete-document-signer': {
    right: async (world) => ({ params: { id: (await freshSigner(world)).id } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
  'issuance.create-document-signer.status-list': {
    right: async (world) => {
      expectStatus(await world.tenant.api.statusListSigners.delete((await freshListSigner(world)).id), 204);
      return { body: { iacaId: world.own.unmanagedIaca } };
    },
    wrong: ({ own }) => ({ body: { iacaId: own.iaca } }),
    refusal: { status: 400, param: 'iacaId', location: 'body' },
  },
  'issuance.list-document-signers.status-list': pageRow,
  'issuance.retrieve-document-signer.status-list': {
    right: ({ own }) => ({ params: { id: own.statusListSigner } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner } }),
  },
  'issuance.update-document-signer.status-list': {
    right: ({ own }) => ({ params: { id: own.statusListSigner }, body: { active: false } }),
    wrong: ({ own }) => ({ params: { id: own.statusListSigner }, body: { active: true } }),
    refusal: { status: 400, param: 'certificatePem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner }, body: { active: false } }),
  },
  'issuance.delete-document-signer.status-list': {
    right: async (world) => ({ params: { id: (await freshListSigner(world)).id } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner } }),
  },
  'issuance.revoke-document-signer': {
    right: async (world) => {
      const { id, csrPem } = await freshSigner(world);
      const certificatePem = await world.own.customer.issue(csrPem!);
      expectStatus(await world.tenant.api.documentSigners.update(id, { active: true, certificatePem }), 200);
      return { params: { id } };
    },
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
  'issuance.retrieve-iacas': publicDocument,
};
