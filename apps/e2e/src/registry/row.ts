import type { OperationParts } from '@attestry/testing';
import type { World } from './world.js';

type Location = 'body' | 'params' | 'query' | 'headers';

export interface Row {
  /** The caller on the management host: the first management client, or a person. */
  as?: 'person';
  /** Makes what it needs, so that it can be called again and again. */
  right: (world: World) => OperationParts | Promise<OperationParts>;
  /** A call that must be refused, and how. */
  wrong: (world: World) => (OperationParts & { method?: string; path?: string }) | Promise<OperationParts>;
  refusal:
    | { status: 400; param: string; location: Location }
    | { status: 400 | 401 | 403; error: string }
    /** For the person at the browser. */
    | { status: 400; page: string }
    | { status: 404 | 405 };
  /** The right call with ids of another tenant: 404. */
  foreign?: (world: World) => OperationParts;
}

export const pageRow: Row = {
  right: () => ({ query: { limit: 5 } }),
  wrong: () => ({ query: { limit: 0 } }),
  refusal: { status: 400, param: 'limit', location: 'query' },
};

export const malformedId = {
  wrong: () => ({ params: { id: 'no-uuid' } }),
  refusal: { status: 400, param: 'id', location: 'params' } as const,
};

export const publicDocument: Row = {
  right: () => ({}),
  wrong: () => ({ method: 'POST' }),
  refusal: { status: 405 },
};
