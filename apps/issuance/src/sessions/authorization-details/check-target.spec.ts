import type { AppError } from '@attestry/contracts';
import { checkTarget, resourcesOf, type Target } from './check-target.js';

const HOST = 'https://acme.issuer.example';
const DOMAIN = 'https://acme.example';
const isIssuer = async (name: string) => [HOST, DOMAIN].includes(name);
const outcome = async (target: Target) => {
  try {
    await checkTarget(target, HOST, isIssuer);
    return undefined;
  } catch (error) {
    return [(error as AppError).code, (error as AppError).message];
  }
};
const detail = (...locations: string[]) => ({ credentialConfigurationId: 'c', locations });
const badResource = (name: string) => ['invalid_target', `resource must be ${HOST}, not ${name}`];
const badLocation = (name: string) => [
  'invalid_authorization_details',
  `locations must name ${HOST} only, not ${name}`,
];

describe('the target of a request [T592]', () => {
  it('is the issuer by any of its names, in resource and locations, or not named', async () => {
    for (const target of [
      ...[{}, { resources: [], details: [{ credentialConfigurationId: 'c' }] }],
      ...[{ resources: [HOST] }, { resources: [DOMAIN, HOST, DOMAIN] }],
      { details: [detail(HOST), detail(DOMAIN), detail(HOST, DOMAIN), detail()] },
    ])
      expect(await outcome(target)).toBeUndefined();
  });

  it.each(['https://other.example', `${DOMAIN}/`, DOMAIN.toUpperCase(), 'http://acme.example', 'acme.example', ' '])(
    'is not %j',
    async (name) => {
      expect(await outcome({ resources: [HOST, name] })).toEqual(badResource(name));
      expect(await outcome({ details: [detail(HOST), detail(DOMAIN, name)] })).toEqual(badLocation(name));
    },
  );

  it('is read from each resource that has a value', () =>
    expect(resourcesOf(new URLSearchParams(`resource=&resource=${HOST}&resource=x`))).toEqual([HOST, 'x']));
});
