import { rulesOf, type JsonSchema, type Operation } from '@attestry/contracts';

/**
 * Members of the resource that the body of the operation does not declare, by name: a body that was read from the API may be sent back
 * (ADR 0065).
 * @throws Error when a class has no shape
 */
export const readOnlyMembersOf = (
  { http, body, resource, response }: Operation,
  shapes: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> => {
  if (!body) return {};
  const declared = new Set(rulesOf(body).map(({ propertyName }) => propertyName));
  const updated = http?.method === 'PUT' && typeof response === 'function' ? response : undefined;
  return Object.fromEntries(
    [resource, updated].flatMap((type) => {
      if (!type) return [];
      const { properties } = shapes[type.name] ?? {};
      if (!properties) throw new Error(`${type.name} has no shape: npm run docs`);
      return Object.entries(properties).filter(([name]) => !declared.has(name));
    }),
  );
};
