import createClient, { type Client } from 'openapi-fetch';
import type { ApiClient, Answer } from './api-client.js';

/** The body an answer has when the call succeeds. */
type BodyOf<Result> = Result extends { data: infer Data } ? Data : never;

/**
 * A client whose paths, parameters and bodies are those of an interface definition: what is called and read here is what
 * libs/contracts/src/openapi/*.json promises, or it does not compile. Requests go through an {@link ApiClient}, with its
 * token and its look at the headers of every answer.
 */
export const interfaceClient = <Paths extends object>(api: ApiClient) => {
  const answers = new WeakMap<Response, Answer>();
  const send = async (request: Request): Promise<Response> => {
    const body = await request.text();
    const answer = await api.request(request.method, request.url.slice(api.baseUrl.length), {
      headers: Object.fromEntries(request.headers),
      ...(body !== '' && { body }),
    });
    const { status, headers, text } = answer;
    const response = new Response(text === '' ? null : text, { status, headers });
    answers.set(response, answer);
    return response;
  };
  const client: Client<Paths> = createClient<Paths>({ baseUrl: api.baseUrl, fetch: send });
  /** The answer to a call, whatever its status. */
  const answerTo = async <Result extends { response: Response }>(
    call: Promise<Result>,
  ): Promise<Answer<BodyOf<Result>>> => answers.get((await call).response) as Answer<BodyOf<Result>>;
  return { client, answerTo };
};
