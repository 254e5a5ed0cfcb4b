import { HTTP_STATUS, httpAnswer, oauthFault, type AppError, type HttpAnswer } from '@attestry/contracts';
import { escaped, pageHeaders, renderPage } from './browser-page.js';

/**
 * Error page when the browser is not redirected to the wallet. RFC 6749 §4.1.2.1. It repeats nothing of the request: otherwise a link
 * could display text in the issuer's name.
 */
export const refusalPage = (
  refusal: AppError,
  { issuer, requestId }: { issuer: string; requestId: string },
  headers: Record<string, string> = {},
): HttpAnswer => {
  const { error, error_description: description } = oauthFault(refusal);
  const facts = [
    ['Error', error],
    ['Description', description],
    ['Request ID', requestId],
  ] as const;
  const body = renderPage({
    language: 'en',
    title: 'You cannot sign in with this link',
    host: new URL(issuer).host,
    content: `<p>No credential was issued. Go back to your wallet and start again from there.</p>
<p>If you see this page again, contact the organization that offered you the credential and give them the details below.</p>
<h2 id="details">Details</h2>
<dl aria-labelledby="details">
${facts.map(([name, value]) => `<dt>${name}</dt>\n<dd>${escaped(value)}</dd>`).join('\n')}
</dl>`,
  });
  // 401 would need a challenge (RFC 9110 §15.5.2), which a page cannot answer.
  const { kind } = refusal;
  const status = kind === 'unauthenticated' ? 400 : HTTP_STATUS[kind];
  return httpAnswer({ status, headers: { ...pageHeaders(), ...headers }, body });
};
