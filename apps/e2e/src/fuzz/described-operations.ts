import type { JsonSchema, OpenApiDocument } from '@attestry/contracts';

export type ApiName = 'management' | 'tenant';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: JsonSchema;
}

interface Content {
  [mediaType: string]: { schema: JsonSchema };
}

export interface Response {
  $ref?: string;
  headers: Record<string, unknown>;
  content?: Content;
}

/** An operation as an interface definition describes it. */
export interface DescribedOperation {
  api: ApiName;
  /** `createDid` */
  id: string;
  method: string;
  /** `/v1/dids/{id}` */
  path: string;
  /** JSON pointer to it. */
  pointer: string;
  security: readonly Record<string, unknown>[];
  parameters: readonly Parameter[];
  body?: Content;
  responses: Record<string, Response>;
}

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

export const describedOperations = (api: ApiName, { paths }: OpenApiDocument): DescribedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId, security, parameters, requestBody, responses } = described as unknown as {
        operationId: string;
        security: DescribedOperation['security'];
        parameters?: Parameter[];
        requestBody?: { content: Content };
        responses: DescribedOperation['responses'];
      };
      return {
        api,
        id: operationId,
        method: method.toUpperCase(),
        path,
        pointer: `/paths/${escaped(path)}/${method}`,
        security,
        parameters: parameters ?? [],
        ...(requestBody && { body: requestBody.content }),
        responses,
      };
    }),
  );

/** How a path looks that fits a template. */
export const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/(\{\w+\})/)
      .map((part) => {
        // Only the prefix of a document's path may have slashes in it.
        if (part === '{path}') return '.*';
        return part.startsWith('{') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
      })
      .join('')}$`,
  );
