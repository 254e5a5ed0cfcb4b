import type { AppError } from '@attestry/contracts';
import { checkTarget, resourcesOf, type Target } from './check-target.js';

const HOST = 'https://acme.issuer.example';
const DOMAIN = 'https://acme.example';
const isIssuer = async (name: string) => [HOST, DOMAIN].includes(name);
const outcome = async (target: Target) => {
  try {
    await checkTarget(target, isIssuer);
    return undefined;
  } catch (error) {
    return [(error as AppError).code, (error as AppError).message];
  }
};
const detail = (...locations: string[]) => ({ credentialConfigurationId: 'c', locations });
const BAD_RESOURCE = ['invalid_target', 'resource must be the credential issuer identifier'];
const BAD_LOCATION = ['invalid_authorization_details', 'locations must name the credential issuer identifier only'];

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
      expect(await outcome({ resources: [HOST, name] })).toEqual(BAD_RESOURCE);
      expect(await outcome({ details: [detail(HOST), detail(DOMAIN, name)] })).toEqual(BAD_LOCATION);
    },
  );

  it('is read from each resource that has a value', () =>
    expect(resourcesOf(new URLSearchParams(`resource=&resource=${HOST}&resource=x`))).toEqual([HOST, 'x']));
});
