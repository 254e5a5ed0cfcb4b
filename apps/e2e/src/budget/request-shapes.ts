import { templateOf, type JsonSchema, type Operation } from '@attestry/contracts';
import { interfaceDocuments } from '@attestry/testing';

/** Steps from a body to a member: names, and 0 for an entry of a list. */
export type MemberPath = readonly (string | 0)[];

export interface Member {
  path: MemberPath;
  /** `open`: whatever JSON, or a map with names of the caller's choosing. */
  kind: 'array' | 'object' | 'open' | 'string';
  /** Entries of an array. */
  items?: JsonSchema;
}

/** The members of body, query and path of an operation, as the interface definition describes them. */
export interface RequestShape {
  /** By media type, the body itself first. */
  bodies: { mediaType: string; members: Member[] }[];
  query: string[];
  params: string[];
}

const documents = interfaceDocuments();

/** A schema that names itself is followed so deep. */
const MAX_DEPTH = 8;

const resolve = (schemas: Record<string, JsonSchema>, schema: JsonSchema): JsonSchema =>
  schema.$ref ? resolve(schemas, schemas[schema.$ref.split('/').at(-1)!]!) : schema;

const membersOf = (schemas: Record<string, JsonSchema>, given: JsonSchema, path: MemberPath = []): Member[] => {
  const schema = resolve(schemas, given);
  // Read-only members are not visited.
  if (path.length > MAX_DEPTH || given.readOnly) return [];
  if (schema.anyOf) return schema.anyOf.flatMap((one) => membersOf(schemas, one, path));
  const types = schema.type === undefined ? [undefined] : [schema.type].flat();
  return types.flatMap((type): Member[] => {
    switch (type) {
      case 'string':
        return [{ path, kind: 'string' }];
      case 'array': {
        const items = resolve(schemas, schema.items ?? {});
        return [{ path, kind: 'array', items }, ...membersOf(schemas, items, [...path, 0])];
      }
      case 'object': {
        const { properties = {}, additionalProperties } = schema;
        const isMap = additionalProperties !== undefined && additionalProperties !== false;
        const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
        return [
          { path, kind: isMap ? 'open' : 'object' },
          ...Object.entries(properties).flatMap(([name, member]) => membersOf(schemas, member, [...path, name])),
          ...(values ? membersOf(schemas, values, [...path, 'one']) : []),
        ];
      }
      case undefined:
        return [{ path, kind: 'open' }];
      default:
        return [];
    }
  });
};

const isSame = (one: Member, other: Member) => one.kind === other.kind && one.path.join('.') === other.path.join('.');

export const shapeOf = (operation: Operation): RequestShape => {
  const { method, path } = operation.http!;
  const params = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name!);
  for (const document of documents) {
    const declared = document.paths[templateOf(path)]?.[method.toLowerCase()] as unknown as
      | {
          operationId: string;
          parameters?: { name: string; in: string }[];
          requestBody?: { content: Record<string, { schema: JsonSchema }> };
        }
      | undefined;
    if (declared?.operationId !== operation.operationId) continue;
    const { schemas } = document.components;
    return {
      bodies: Object.entries(declared.requestBody?.content ?? {}).map(([mediaType, { schema }]) => ({
        mediaType,
        members: membersOf(schemas, schema).filter(
          (member, index, all) => all.findIndex((other) => isSame(other, member)) === index,
        ),
      })),
      query: (declared.parameters ?? []).filter((it) => it.in === 'query').map(({ name }) => name),
      params,
    };
  }
  // Served at a host that no interface definition is about.
  return { bodies: [], query: [], params };
};
