import { hostFetch } from './host-fetch.js';
import { waitUntil } from './wait-until.js';

/** {@link hostFetch} of a status list, as verifiers do: a list that was opened a moment ago answers 503 with `Retry-After`. */
export const fetchStatusList = (uri: string, accept: string): Promise<Response> =>
  waitUntil(
    async () => {
      const response = await hostFetch(uri, { headers: { accept } });
      return response.status === 503 && response.headers.has('retry-after') ? undefined : response;
    },
    { intervalMs: 200, what: `the list ${uri}` },
  );
