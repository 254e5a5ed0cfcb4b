import { invalidBody, tooLarge } from '@attestry/contracts';
import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** RFC 7303. */
export const isXml = (mediaType: string): boolean => mediaType === 'application/xml' || mediaType === 'text/xml';

/** Bytes; a megabyte of tags would block the process for seconds, and no request in XML is near this. */
export const MAX_XML = 32_768;
/** Root, members, and the levels of the objects in an XML request. */
const MAX_DEPTH = 16;

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Values stay text: a name of `1.50` is not a number.
  parseTagValue: false,
  removeNSPrefix: true,
  maxNestedTags: MAX_DEPTH,
  // Otherwise numeric references are not resolved; named ones beside XML's own five are refused below.
  htmlEntities: true,
});

const OPAQUE = /<!\[CDATA\[[^]*?\]\]>|<!--[^]*?-->/g;
const FOREIGN_ENTITY = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)/;
const ENCODING = /^<\?xml[^>]*\bencoding\s*=\s*["']([^"']*)["']/;
const UTF_8 = /^(?:utf-?8|us-ascii)$/i;

const malformed = (msg = 'must be well-formed XML') => invalidBody('body', msg);

const decode = (raw: Uint8Array, contentType: string): string => {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw).trim();
    if (UTF_8.test(charset) && UTF_8.test(ENCODING.exec(text)?.[1] ?? 'utf-8')) return text;
  } catch {
    // refused below
  }
  throw malformed('must be UTF-8');
};

/**
 * The child elements of the root, whatever its name, as an object of texts: attributes and namespaces are ignored, a repeated element is an
 * array. A document type could define unlimited entities, so none is accepted.
 * @throws AppError 400, 413
 */
export const parseXml = (raw: Uint8Array, contentType: string): unknown => {
  if (raw.byteLength > MAX_XML) throw tooLarge('a body in XML', MAX_XML);
  const text = decode(raw, contentType);
  const validated = XMLValidator.validate(text);
  if (validated !== true) {
    // The message of the validator repeats names of the text.
    const { line, col } = validated.err;
    throw malformed(`must be well-formed XML: line ${line}${col === undefined ? '' : `, column ${col}`}`);
  }
  // Well-formed at this point: every start tag has its end tag.
  const markup = text.replace(OPAQUE, '');
  if (markup.includes('<!')) throw malformed('must not have a DOCTYPE');
  if (FOREIGN_ENTITY.test(markup)) throw malformed();
  let document: Record<string, unknown>;
  try {
    document = parser.parse(text) as Record<string, unknown>;
  } catch {
    throw malformed();
  }
  const [root] = Object.values(document);
  return typeof root === 'object' && root !== null && !Array.isArray(root) ? root : {};
};
