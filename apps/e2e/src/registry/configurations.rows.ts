import type { CredentialProfile } from '@attestry/contracts';
import { expectStatus } from '@attestry/testing';
import { pageRow, type Row } from './row.js';
import { compactRequest, jwtVcRequest, mobileRequest } from './things.js';

const configurationRows = (
  profile: CredentialProfile,
  thing: 'jwtVc' | 'sdJwt' | 'webSemantic' | 'compact' | 'compactSemantic' | 'mobile',
  request: (type?: string) => object = jwtVcRequest,
): Record<string, Row> => {
  const name = (verb: string, plural = '') => `issuance.${verb}-credential-configuration${plural}.${profile}`;
  const malformed = {
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' } as const,
  };
  return {
    [name('create')]: {
      right: () => ({ body: request() }),
      wrong: () => ({ body: { ...request(), type: 'white space' } }),
      refusal: { status: 400, param: 'type', location: 'body' },
    },
    [name('list', 's')]: pageRow,
    [name('retrieve')]: {
      right: ({ own }) => ({ params: { id: own[thing] } }),
      ...malformed,
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
    },
    [name('update')]: {
      right: async ({ tenant, own }) => {
        const { type } = expectStatus<{ type: string }>(await tenant.api[thing].retrieve(own[thing]), 200);
        return { params: { id: own[thing] }, body: request(type) };
      },
      wrong: ({ own }) => ({ params: { id: own[thing] }, body: { ...request(), claimMappings: [] } }),
      refusal: { status: 400, param: 'claimMappings', location: 'body' },
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] }, body: request() }),
    },
    [name('delete')]: {
      right: async ({ tenant }) => ({
        params: { id: expectStatus<{ id: string }>(await tenant.api[thing].create(request() as never), 201).id },
      }),
      ...malformed,
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
    },
  };
};

export const configurationsRows: Record<string, Row> = {
  ...configurationRows('jwt-vc', 'jwtVc'),
  ...configurationRows('web-semantic', 'webSemantic'),
  ...configurationRows('mobile', 'mobile', mobileRequest),
  ...configurationRows('sd-jwt', 'sdJwt'),
  ...configurationRows('compact', 'compact', compactRequest),
  ...configurationRows('compact-semantic', 'compactSemantic', compactRequest),
};
