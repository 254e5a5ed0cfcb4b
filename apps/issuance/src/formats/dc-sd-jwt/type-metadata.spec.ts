import { createHash } from 'node:crypto';
import { TypeMetadataFormatSchema } from '@sd-jwt/sd-jwt-vc';
import { isTypeChanged, publishType, type TypeDescription } from './type-metadata.js';

const vct = 'https://acme.example/types/1';
/** Claims that every credential has, as EUDI's validator demands them. */
const OWN_CLAIMS = ['iss', 'iat', 'nbf', 'exp', 'vct', 'vct#integrity', 'cnf', 'status'].map((claim) => ({
  path: [claim],
  sd: 'never',
}));
const type: TypeDescription = {
  name: 'Course',
  description: 'Completed course',
  display: [
    {
      name: 'Course certificate',
      locale: 'en-US',
      description: 'What was learned',
      logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' },
      background_color: '#a1b2c3',
      background_image: { uri: 'https://acme.example/back.png' },
      text_color: '#000000',
    },
    { name: 'Kurs', locale: 'de-DE', logo: { uri: 'data:image/png;base64,AA' } },
    { name: 'Cours', locale: 'fr-FR' },
    { name: 'Without locale' },
  ],
  claims: {
    title: {
      required: true,
      display: [{ name: 'Title', locale: 'en-US' }, { name: 'Titel', locale: 'de-DE' }, { name: 'x' }],
    },
    level: {},
    remark: { required: false, display: [{ locale: 'en-US' }] },
  },
};

describe('type metadata', () => {
  it('has the members of SD-JWT VC, which an independent library accepts', () => {
    const document: unknown = JSON.parse(publishType(vct, type).document);
    expect(document).toEqual({
      vct,
      name: 'Course',
      description: 'Completed course',
      display: [
        {
          locale: 'en-US',
          name: 'Course certificate',
          description: 'What was learned',
          rendering: {
            simple: {
              logo: { uri: 'https://acme.example/logo.png', alt_text: 'Acme' },
              background_image: { uri: 'https://acme.example/back.png' },
              background_color: '#a1b2c3',
              text_color: '#000000',
            },
          },
        },
        { locale: 'de-DE', name: 'Kurs', rendering: { simple: { logo: { uri: 'data:image/png;base64,AA' } } } },
        { locale: 'fr-FR', name: 'Cours' },
      ],
      claims: [
        {
          path: ['title'],
          display: [
            { locale: 'en-US', label: 'Title' },
            { locale: 'de-DE', label: 'Titel' },
          ],
          mandatory: true,
          sd: 'always',
        },
        { path: ['level'], sd: 'always' },
        { path: ['remark'], sd: 'always' },
        ...OWN_CLAIMS,
      ],
    });
    expect(TypeMetadataFormatSchema.safeParse(document).error).toBeUndefined();
  });

  it('lists the claims that every credential has, after those of the type [T743]', () => {
    const { claims } = JSON.parse(publishType(vct, type).document) as { claims: object[] };
    expect(claims.slice(Object.keys(type.claims).length)).toEqual(OWN_CLAIMS);
  });

  it('has only a name and claims when the configuration has no more', () =>
    expect(JSON.parse(publishType(vct, { name: 'Kurs für Ä', claims: {} }).document)).toEqual({
      vct,
      name: 'Kurs für Ä',
      claims: OWN_CLAIMS,
    }));

  it('has the digest of its bytes as integrity', () => {
    const { document, integrity } = publishType(vct, { name: 'Kurs für Ä', claims: {} });
    const digest = createHash('sha256').update(Buffer.from(document, 'utf8')).digest('base64');
    expect(integrity).toBe(`sha256-${digest}`);
    expect(publishType(`${vct}2`, { name: 'Kurs für Ä', claims: {} }).integrity).not.toBe(integrity);
  });
});

describe('a further version of a type', () => {
  const [title, level, remark] = Object.entries(type.claims) as [string, object][];
  const [english, ...others] = type.display!;
  it.each<[string, TypeDescription]>([
    ['name', { ...type, name: 'Course 2' }],
    ['description', { ...type, description: undefined }],
    ['display', { ...type, display: [{ ...english!, text_color: '#ffffff' }, ...others] }],
    ['order of the display', { ...type, display: [...others, english!] }],
    ['set of claims', { ...type, claims: { ...type.claims, grade: {} } }],
    ['order of the claims', { ...type, claims: Object.fromEntries([level!, title!, remark!]) }],
    ['required claims', { ...type, claims: { ...type.claims, level: { required: true } } }],
    [
      'label of a claim',
      { ...type, claims: { ...type.claims, level: { display: [{ name: 'Level', locale: 'en-US' }] } } },
    ],
  ])('is due for another %s', (_, changed) => expect(isTypeChanged(type, changed)).toBe(true));

  it.each<[string, TypeDescription]>([
    ['nothing', structuredClone(type)],
    ['an entry without locale', { ...type, display: type.display!.slice(0, 3) }],
    ['a claim that is not required explicitly', { ...type, claims: { ...type.claims, level: { required: false } } }],
    [
      'the order of members',
      { ...type, display: type.display!.map((it) => Object.fromEntries(Object.entries(it).reverse()) as typeof it) },
    ],
  ])('is not due when %s changed', (_, changed) => expect(isTypeChanged(type, changed)).toBe(false));
});
