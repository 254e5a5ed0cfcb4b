import {
  connectManagement,
  createTenantUnderTest,
  PLATFORM_START_MS,
  sharedPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { EachFormat, inEachFormat, NAMESPACE, type Configurations, type Mappings, type Values } from './each-format.js';

/** Names that every JavaScript object has a member of; `__proto__` is refused by name (edge.e2e.spec.ts). */
const NAMES = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');

/** Each name as the name of a mapping and a claim, and as a step of a path. */
const OWN: Mappings = {
  always: { defaultValue: 'here' },
  ...Object.fromEntries(
    NAMES.flatMap((name) => [
      [name, { mapFrom: `claims.${name}` }],
      [`inner-${name}`, { mapFrom: `claims.inner.${name}` }],
      [`deep-${name}`, { mapFrom: `claims.${name}.${name}` }],
    ]),
  ),
};
/** Each name as the name of a mapping of another claim, and as a claim that is required. */
const OTHER: Mappings = Object.fromEntries(
  NAMES.flatMap((name) => [
    [name, { mapFrom: `claims.other-${name}` }],
    [`required-${name}`, { mapFrom: `claims.${name}`, required: true }],
  ]),
);
const required = Object.fromEntries(NAMES.map((name) => [name, `required ${name}`]));

let tenant: TenantUnderTest;
let formats: EachFormat;
let own: Configurations;
let other: Configurations;

beforeAll(async () => {
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'object-names');
  formats = await EachFormat.prepare(tenant);
  own = await formats.configure('Own', OWN);
  other = await formats.configure('Other', OTHER);
}, PLATFORM_START_MS);

describe('names of Object.prototype, in each format [T671]', () => {
  it('are claims, mappings and steps of paths with the value that the offer has', async () => {
    const plain = Object.fromEntries(NAMES.map((name) => [name, `of ${name}`]));
    const inner = Object.fromEntries(NAMES.map((name) => [name, `inner ${name}`]));
    expect(await formats.issue(own, { ...plain, inner })).toEqual(
      inEachFormat({
        always: 'here',
        ...plain,
        ...Object.fromEntries(NAMES.map((name) => [`inner-${name}`, inner[name]])),
      }),
    );
  });

  it.each<[string, Values]>([
    ['claims', {}],
    ['such members', { inner: { other: 1 }, other: { inner: 'x' } }],
    ['objects', { inner: 'text' }],
  ])('have no value in an offer without %s', async (_, claims) =>
    expect(await formats.issue(own, claims)).toEqual(inEachFormat({ always: 'here' })),
  );

  it('are names of mappings of other claims', async () => {
    const values = Object.fromEntries(NAMES.map((name) => [`other-${name}`, `of ${name}`]));
    const always = Object.fromEntries(NAMES.map((name) => [`required-${name}`, required[name]]));
    expect(await formats.issue(other, required)).toEqual(inEachFormat(always));
    expect(await formats.issue(other, { ...required, ...values })).toEqual(
      inEachFormat({ ...always, ...Object.fromEntries(NAMES.map((name) => [name, `of ${name}`])) }),
    );
  });

  it.each(NAMES)('are required claims that an offer lacks: %s', async (name) => {
    const { [name]: _, ...claims } = required;
    const answer = await tenant.api.offers.create({ credentials: [...other.ids.values()], claims });
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({
        details: [...other.ids].map(([format, id]) => {
          const claim = `${format === 'mso_mdoc' ? `${NAMESPACE} ` : ''}required-${name}`;
          return {
            msg: `must fit credential configuration ${id}: the required claim ${claim}, mapped from claims.${name}, has no value`,
            param: 'claims',
            location: 'body',
          };
        }),
      }),
    ]);
  });
});
