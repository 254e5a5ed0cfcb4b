// Rules of members that services check, as patterns of the interface definitions: without flags, so that every generator reads them.

/** Any case of a word of letters, as a pattern without flags. */
const anyCase = (word: string): string => word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const DATA_IMAGE = `${anyCase('data:image')}/[A-Za-z0-9.+-]+(?:;[A-Za-z0-9-]+=[A-Za-z0-9_.+-]+)*(?:;${anyCase('base')}64)?,[!-~]*`;
/** An https address, or an image as a data URL. */
export const IMAGE_URL_PATTERN = new RegExp(`^(?:${DATA_IMAGE}|${anyCase('https')}://[!-~]+)$`);

/** RFC 3986 §4.3, with the fragment. */
export const ABSOLUTE_URI_PATTERN = /^[A-Za-z][A-Za-z0-9+.-]*:[!$-;=?-[\]_a-z~%]+$/;

export const DID_WEB_PATTERN = /^did:web:/;

/** Address of a service that the platform calls; `http` is allowed in development only. */
export const SERVICE_URL_PATTERN = new RegExp(`^${anyCase('http')}[Ss]?://\\S+$`);

/** BCP 47 (RFC 5646 §2.1), as `Intl` reads it. */
export const LANGUAGE_TAG_PATTERN =
  /^(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(?:-[0-9A-WY-Za-wy-z](?:-[A-Za-z0-9]{2,8})+)*(?:-[Xx](?:-[A-Za-z0-9]{1,8})+)?$/;

/** Base64 of cursors has neither `+` nor `/`. */
export const CURSOR_PATTERN = /^[A-Za-z0-9]+$/;

const STEP = String.raw`(?:\.[^\s.[\]'"\\]+|\['(?:[^'\\]|\\['\\])+'\]|\["(?:[^"\\]|\\["\\])+"\])`;
const PROVIDER_MEMBER = String.raw`(?:\.(?:url|subjectId)|\['(?:url|subjectId)'\]|\["(?:url|subjectId)"\])`;
const CLAIM_PATH = `claims${STEP}+|authenticationProvider${PROVIDER_MEMBER}`;
/** `mapFrom` of a claim. */
export const CLAIM_PATH_PATTERN = new RegExp(`^(?:${CLAIM_PATH})$`);
/** `mapFrom` of a parameter of a claims source. */
export const PARAMETER_PATH_PATTERN = new RegExp(
  String.raw`^(?:${CLAIM_PATH}|credentialConfiguration\.(?:id|type|format|profile))$`,
);
