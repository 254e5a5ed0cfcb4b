import type { Api, Operation } from '../operation.js';
import type { JsonSchema } from './json-schema.js';

export type InterfaceName = 'management' | 'tenant';

/** Where the interface definitions are: committed, in the image, and served as they are (ADR 0121). */
export const INTERFACE_DOCUMENTS: Readonly<Record<InterfaceName, URL>> = {
  management: new URL('./management.json', import.meta.url),
  tenant: new URL('./tenant.json', import.meta.url),
};

/** The host that serves an interface definition, then the other one whose operations it describes. */
export const INTERFACE_HOSTS = {
  management: ['management', 'auth'],
  tenant: ['tenant', 'contexts'],
} as const satisfies Record<InterfaceName, readonly [Api, Api]>;

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface OpenApiDocument {
  openapi: string;
  info: JsonObject;
  servers: JsonObject[];
  tags: JsonObject[];
  /** Path, then lower-case method. */
  paths: Record<string, Record<string, JsonObject>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, JsonObject>;
    headers: Record<string, JsonObject>;
    securitySchemes: Record<string, JsonObject>;
  };
}

/** The operations that an interface definition describes. */
export const operationsIn = (name: InterfaceName, operations: readonly Operation[]): Operation[] => {
  const hosts: readonly Api[] = INTERFACE_HOSTS[name];
  return operations.filter(({ http }) => http && (http.hosts ?? ['tenant']).some((host) => hosts.includes(host)));
};

/** `/v1/dids/:id` is `/v1/dids/{id}`; a leading `*` is one parameter. */
export const templateOf = (path: string): string =>
  path.replace(/^\*/, '/{path}').replace(/:([A-Za-z]+)/g, (_, name: string) => `{${name}}`);

/** An operation at one of its paths. */
interface DescribedPath {
  /** In lower case. */
  method: string;
  path: string;
  /** The path as the operation declares it. */
  declared: string;
  operationId: string;
}

/** The paths of an operation with an id for each: further ones are a file or any path with an ending. */
export const describedPathsOf = ({ http, operationId }: Operation): DescribedPath[] =>
  [http!.path, ...(http!.alsoAt ?? [])].map((declared, index) => ({
    method: http!.method.toLowerCase(),
    path: templateOf(declared),
    declared,
    operationId: index === 0 ? operationId : `${operationId}${declared.startsWith('*') ? 'ByPath' : 'File'}`,
  }));

/** Operations that the interface definition does not describe, or that are not declared: method, path and id. */
export const differingOperations = (
  name: InterfaceName,
  { paths }: OpenApiDocument,
  operations: readonly Operation[],
): string[] => {
  const lineOf = (method: string, path: string, operationId: unknown) =>
    `${method.toUpperCase()} ${path} (${String(operationId)})`;
  const declared = new Set(
    operationsIn(name, operations)
      .flatMap(describedPathsOf)
      .map(({ method, path, operationId }) => lineOf(method, path, operationId)),
  );
  const described = new Set(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => lineOf(method, path, operationId)),
    ),
  );
  return [
    ...[...declared].filter((line) => !described.has(line)).map((line) => `${line} is declared, but not described`),
    ...[...described].filter((line) => !declared.has(line)).map((line) => `${line} is described, but not declared`),
  ];
};
