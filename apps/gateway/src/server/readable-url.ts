const isReadable = (path: string): boolean => {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
};

/** RFC 9112 §3.2.2: the part after scheme and authority. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** RFC 9112 §3.2.1: path and query of any form of target; `*` and invalid forms become a path that no operation has. */
export const originForm = (target: string): string => {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  return rest.startsWith('/')
    ? rest
    : rest === '' || (rest !== target && rest.startsWith('?'))
      ? `/${rest}`
      : `/*${rest}`;
};

/**
 * The target of a request with a path that can be decoded. Fastify itself responds to one that cannot, past the pipeline, without request
 * id, rate limit and error shape. A percent sign that encodes nothing is literal (WHATWG URL, percent-decode); where octets are not
 * UTF-8, all of them do, and no route is found.
 */
export const readableUrl = ({ url: target = '/' }: { url?: string }): string => {
  const url = target.startsWith('/') ? target : originForm(target);
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!path.includes('%') || isReadable(path)) return url;
  const mended = path.replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25');
  const readable = isReadable(mended) ? mended : path.replaceAll('%', '%25');
  return mark < 0 ? readable : readable + url.slice(mark);
};
