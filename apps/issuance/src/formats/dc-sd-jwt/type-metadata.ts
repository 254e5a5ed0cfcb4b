import { hash } from 'node:crypto';

/** The part of a configuration that its type metadata shows. */
export interface TypeDescription {
  name: string;
  description?: string;
  display?: readonly TypeDisplay[];
  /** By claim name, in the order in which wallets display the claims. */
  claims: Readonly<Record<string, DescribedClaim>>;
}

/** An entry of the configuration's `display`, OID4VCI 1.0 §12.2.4. */
export interface TypeDisplay {
  name: string;
  locale?: string;
  description?: string;
  logo?: { uri: string; alt_text?: string };
  background_color?: string;
  background_image?: { uri: string };
  text_color?: string;
}

export interface DescribedClaim {
  required?: boolean;
  /** OID4VCI 1.0 Appendix B.2 */
  display?: readonly { name?: string; locale?: string }[];
}

export interface PublishedType {
  /** JSON text; served as these bytes, because `integrity` is their digest. */
  document: string;
  /** Value of `vct#integrity`. */
  integrity: string;
}

/** Claims that each credential has beside the mapped ones; strict verifiers refuse those that the type does not list. */
const OWN_CLAIMS = ['iss', 'iat', 'nbf', 'exp', 'vct', 'vct#integrity', 'cnf', 'status'].map((claim) => ({
  path: [claim],
  sd: 'never',
}));

/** Type metadata of a version of a type (SD-JWT VC, Type Metadata Format). */
export const publishType = (vct: string, type: TypeDescription): PublishedType => {
  const { claims, ...described } = describe(type);
  const document = JSON.stringify({ vct, ...described, claims: [...claims, ...OWN_CLAIMS] });
  return { document, integrity: `sha256-${hash('sha256', document, 'base64')}` };
};

/**
 * Whether a type needs a further version, with a `vct` of its own: only when its document changes, because a published document is immutable.
 * A change of the lifetime of credentials, for example, leaves the type as it is.
 */
export const isTypeChanged = (published: TypeDescription, type: TypeDescription): boolean =>
  JSON.stringify(describe(published)) !== JSON.stringify(describe(type));

const describe = ({ name, description, display = [], claims }: TypeDescription) => {
  const displayed = display.flatMap(displayOf);
  return {
    name,
    ...(description !== undefined && { description }),
    ...(displayed.length > 0 && { display: displayed }),
    claims: Object.entries(claims).map(([claim, described]) => claimOf(claim, described)),
  };
};

/** SD-JWT VC, Display Metadata. `locale` is required there: an entry without one is shown only in the issuer metadata. */
const displayOf = ({ locale, name, description, ...style }: TypeDisplay) => {
  if (locale === undefined) return [];
  const { logo, background_image, background_color, text_color } = style;
  const simple = {
    ...(logo && { logo: { uri: logo.uri, ...(logo.alt_text !== undefined && { alt_text: logo.alt_text }) } }),
    ...(background_image && { background_image: { uri: background_image.uri } }),
    ...(background_color !== undefined && { background_color }),
    ...(text_color !== undefined && { text_color }),
  };
  return [
    {
      locale,
      name,
      ...(description !== undefined && { description }),
      ...(Object.keys(simple).length > 0 && { rendering: { simple } }),
    },
  ];
};

/** SD-JWT VC, Claim Metadata. */
const claimOf = (claim: string, { required, display = [] }: DescribedClaim) => {
  const labels = display.flatMap(({ locale, name: label }) => (locale && label ? [{ locale, label }] : []));
  return {
    path: [claim],
    ...(labels.length > 0 && { display: labels }),
    ...(required && { mandatory: true }),
    sd: 'always',
  };
};
