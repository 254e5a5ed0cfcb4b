import { readFileSync } from 'node:fs';
import { INTERFACE_DOCUMENTS, type OpenApiDocument } from '../openapi/interface-documents.js';
import { OPERATIONS } from '../registry.js';
import { CONFIGURATION_OPERATIONS, PROFILES, type CredentialFormat } from './formats.js';

/** `credentialProfile` in webhooks and events. Written out, so that no list proves itself. */
const SPECIFIED = ['mobile', 'compact', 'compact-semantic', 'web-semantic', 'jwt-vc', 'sd-jwt'];

const formats = Object.keys(PROFILES) as CredentialFormat[];
const profiles = Object.values(PROFILES) as string[];

describe('the profiles of credential formats', () => {
  it('are specified ones, a different one for each format', () => {
    expect(SPECIFIED).toEqual(expect.arrayContaining(profiles));
    expect(new Set(profiles).size).toBe(formats.length);
  });

  it.each(formats)('name the operations, paths and categories of configurations: %s', (format) => {
    const profile = PROFILES[format];
    const operations = Object.values(CONFIGURATION_OPERATIONS[format]);
    expect(operations).toHaveLength(5);
    for (const { name, http, analytics } of operations) {
      expect(name.split('.').at(-1)).toBe(profile);
      expect(http?.path.split('/').slice(0, 5)).toEqual(['', 'v2', 'credentials', profile, 'configurations']);
      expect(analytics?.category).toBe(`credential-${profile}`);
    }
  });

  it('are the categories of credentials in the filters of analytics events', () => {
    const categories = new Set(OPERATIONS.flatMap(({ analytics }) => analytics?.category ?? []));
    const ofCredentials = [...categories].filter((category) => category.startsWith('credential-'));
    expect(ofCredentials).toEqual(expect.arrayContaining(profiles.map((profile) => `credential-${profile}`)));
    for (const category of ofCredentials) expect(SPECIFIED).toContain(category.slice('credential-'.length));
  });

  it('are the values in the interface definition', () => {
    const { components } = JSON.parse(readFileSync(INTERFACE_DOCUMENTS.tenant, 'utf8')) as OpenApiDocument;
    expect(components.schemas['CredentialProfile']).toMatchObject({ type: 'string', enum: profiles });
  });
});
