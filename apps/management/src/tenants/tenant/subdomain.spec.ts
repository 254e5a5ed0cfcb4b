import { RESERVED_SUBDOMAINS } from '@attestry/contracts';
import { describeNameClaim } from '@attestry/event-store';
import { checkSubdomain, subdomain } from './subdomain.claim.js';

describeNameClaim(subdomain, {
  name: ['env', 'acme'],
  stream: 'subdomain-env+acme',
  claimed: 'SubdomainClaimed',
  released: 'SubdomainReleased',
  members: ['environmentId', 'subdomain'],
  refusals: { taken: 'BadRequest', pending: 'ServiceUnavailable' },
});

describe('a subdomain', () => {
  it('is a label of a host name', () => {
    for (const name of ['acme', 'a1b', 'a-b-c', '0ab']) expect(() => checkSubdomain(name)).not.toThrow();
  });

  it.each(['ab', 'Acme', 'acme_', '-acme', 'acme-', 'xn--acme', 'a'.repeat(64), 'acme.x', 'äcme', 'acme\n', ''])(
    'is refused when it is %j',
    (name) => expect(() => checkSubdomain(name)).toThrow(expect.objectContaining({ code: 'BadRequest' })),
  );

  it.each([...RESERVED_SUBDOMAINS])('is refused when it is the reserved name %s [T656]', (name) =>
    expect(() => checkSubdomain(name)).toThrow(
      expect.objectContaining({
        code: 'BadRequest',
        details: [
          {
            value: name,
            msg: `is reserved: ${name} is, or could be mistaken for, a host of the platform, as are management, auth, www, api, admin, console, health, status, mail, contexts`,
            param: 'subdomain',
            location: 'body',
          },
        ],
      }),
    ),
  );
});
