import { FILE_OPTION, fileOf, keepSignIn, readSignIn, withExchangedToken } from '../cli/kept-sign-in.mjs';
import { send } from '../cli/send.mjs';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

export default {
  group: 'Operate',
  description: 'call the API of a tenant as the person who signed in with `sign-in --tenant`, and print the answer',
  usage: [
    { name: 'method', about: METHODS.join(', '), required: true },
    { name: 'path', about: 'path and query, from the first slash', required: true },
    { name: 'body', about: 'JSON' },
  ],
  options: [FILE_OPTION],
  examples: ['npx attestry call GET /v1/dids', `npx attestry call POST /v1/dids '{"method": "key"}'`],
  run: async ({ args: [name, path, body], options }, cli) => {
    const method = name.toUpperCase();
    if (!METHODS.includes(method)) cli.wrongUsage(`the method must be one of ${METHODS.join(', ')}`);
    if (!path.startsWith('/')) cli.wrongUsage('the path must begin with a slash');
    if (body !== undefined && !isJson(body)) cli.wrongUsage('the body must be JSON');
    const file = fileOf(options);
    let signIn = await readSignIn(file);
    const exchanged = await withExchangedToken(signIn);
    if (exchanged !== signIn) await keepSignIn(file, exchanged);
    let answer = await call(exchanged);
    // The kept token may have ended early: with the membership, which may be there again.
    if (answer.status === 401 && exchanged === signIn) {
      signIn = await withExchangedToken({ ...signIn, exchanged: undefined });
      await keepSignIn(file, signIn);
      answer = await call(signIn);
    }
    return outcomeOf(answer, cli);

    function call({ tenant, exchanged: { token } }) {
      return send(`${tenant}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { json: JSON.parse(body) }),
      });
    }
  },
};

const isJson = (text) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

function outcomeOf({ status, text }, cli) {
  const isRefused = status >= 400;
  if (isRefused) cli.note(`status ${status}${text && `: ${text}`}`);
  else if (text) cli.say(text.trimEnd());
  const document = { ok: !isRefused, status, ...(text && { body: isJson(text) ? JSON.parse(text) : text }) };
  return { exitCode: isRefused ? 1 : 0, document };
}
