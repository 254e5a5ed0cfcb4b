import type { Environment } from '@attestry/contracts';
import { tokenAudience, type PlatformHosts } from './token-audience.js';

const environment = (id: string, domain: string): Environment => ({
  id,
  name: id,
  domain,
  authorizationServerDomain: `auth.${domain}`,
  deploymentModel: 'public',
  region: { id: 'r', name: 'local', displayName: 'Local' },
});
const hosts: PlatformHosts = {
  scheme: 'https',
  managementDomain: 'management.example',
  environments: [environment('one', 'example'), environment('two', 'eu.example')],
};
const at = (publicUrl: string, audience?: string) => tokenAudience(audience, publicUrl, hosts);
const AUTH = 'https://auth.example';
const MANAGEMENT = 'https://management.example';

describe('the audience of a token request', () => {
  it.each([undefined, 'management.example', 'https://Management.example/', 'https://management.example:443'])(
    '%j is the management API on every token host',
    (audience) => {
      for (const host of [AUTH, 'https://auth.eu.example', MANAGEMENT])
        expect(at(host, audience)).toEqual({ kind: 'management' });
    },
  );

  it('is a tenant on an authorization host, in the environment of that host', () => {
    expect(at(AUTH, 'https://ACME.example/')).toMatchObject({
      kind: 'tenant',
      host: 'acme.example',
      environment: { id: 'one' },
    });
    expect(at('https://auth.eu.example', 'acme.example')).toMatchObject({ kind: 'tenant', environment: { id: 'two' } });
  });

  it('is never a tenant on the management host', () => {
    expect(at(MANAGEMENT, 'acme.example')).toEqual({ kind: 'other' });
  });

  it('is refused on other hosts, and when it is not a host', () => {
    expect(at('https://acme.example')).toEqual({ kind: 'other' });
    expect(at('')).toEqual({ kind: 'other' });
    for (const audience of [
      'http://acme.example',
      'https://acme.example/v1',
      'a@acme.example',
      ' acme.example',
      '\u0000',
    ])
      expect(at(AUTH, audience)).toEqual({ kind: 'other' });
  });
});
