// Requirements of client generators on the schemas in an interface definition.

/** Parts of an OpenAPI document whose values are no schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum']);

/** Faults of the schemas of an OpenAPI document, each with its JSON pointer. */
export function schemaFaults(document) {
  const faults = [];
  const uses = new Map();
  visit(document, '', (schema, at) => {
    if (schema.enum?.some((value) => value === null || typeof value === 'boolean'))
      faults.push(`${at}: an enum has null or a boolean; their types are enough`);
    const isNamed = /^\/components\/schemas\/[^/]+$/.test(at);
    const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(({ type }) => type !== 'null');
    const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
    if (types.length > 1) faults.push(`${at}: has several types; an anyOf with a name can have them`);
    if (alternatives.length > 1 && alternatives.some(({ type }) => type === 'object'))
      faults.push(`${at}: an object among alternatives has no name`);
    if (isNamed) return;
    if (alternatives.length > 1) faults.push(`${at}: alternatives have no name`);
    if (schema.properties) faults.push(`${at}: an object with members has no name`);
    if (schema.enum?.length > 1) {
      const key = JSON.stringify(schema.enum);
      uses.set(key, [...(uses.get(key) ?? []), at]);
    }
  });
  for (const places of uses.values())
    if (places.length > 1) faults.push(`${places.join(', ')}: the same enum, without a name`);
  return faults;
}

/** Addresses of an OpenAPI document that can never be reached: RFC 6761 section 6.4 reserves `.invalid`. */
export function unreachableAddresses(document) {
  return [...JSON.stringify(document).matchAll(/[\w.-]+\.invalid\b/g)].map(
    ([address]) => `: the address ${address} can never be reached`,
  );
}

/** Calls `report` with each object that could be a schema, and its JSON pointer. Names of members are not keywords. */
function visit(value, at, report, isMap = false) {
  if (Array.isArray(value)) value.forEach((entry, index) => visit(entry, `${at}/${index}`, report));
  else if (typeof value === 'object' && value !== null) {
    if (!isMap) report(value, at);
    for (const [name, member] of Object.entries(value))
      if (isMap || !VALUES.has(name))
        visit(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, report, !isMap && MAPS.has(name));
  }
}

/** Keywords whose members are names. */
const MAPS = new Set(['properties', 'schemas', 'paths', 'responses', 'headers', 'securitySchemes', 'content']);
