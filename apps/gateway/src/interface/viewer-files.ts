/**
 * Starts the viewer in the browser. The filter finds operations by every word of path, method, summary, tag and operation id. The access
 * token is kept in `sessionStorage`, which ends with the tab; a client secret never is. With a token, an operation that is
 * tried out gets ids from the lists of its tenant: the ids of the examples exist nowhere.
 *
 * `validatorUrl: null`: otherwise the viewer queries a validator on the internet.
 */
export const START_SCRIPT = String.raw`'use strict';
(() => {
  const KEY = 'attestry.access-token';
  const SCHEME = 'bearerAuth';
  const LIST_MS = 60000;

  // A browser may refuse storage to the page.
  const stored = (use) => {
    try {
      return use(sessionStorage);
    } catch {
      return null;
    }
  };
  let token;
  const keep = (value) => {
    token = value || undefined;
    stored((storage) => (token ? storage.setItem(KEY, token) : storage.removeItem(KEY)));
  };
  const isExpired = (text) => {
    try {
      const claims = JSON.parse(atob(text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
      return claims.exp * 1000 <= Date.now();
    } catch {
      return false;
    }
  };

  // ---- filter

  const wordsOf = (phrase) => String(phrase).toLowerCase().split(/\s+/).filter(Boolean);
  const opsFilter = (tags, phrase) => {
    const words = wordsOf(phrase);
    if (words.length === 0) return tags;
    return tags
      .map((group, tag) =>
        group.set(
          'operations',
          group.get('operations').filter((entry) => {
            const operation = entry.get('operation');
            const parts = [tag, entry.get('method'), entry.get('path'), operation.get('summary'), operation.get('operationId')];
            const text = parts.join(' ').toLowerCase();
            return words.every((word) => text.includes(word));
          }),
        ),
      )
      .filter((group) => group.get('operations').size > 0);
  };
  const isFiltering = (layout) => {
    const current = layout.get('filter');
    return typeof current === 'string' && wordsOf(current).length > 0;
  };

  // ---- ids that exist

  /** Last part of the path of status operations, and the format in the list of credentials. */
  const FORMATS = {
    'jwt-vc': 'jwt_vc_json',
    'sd-jwt': 'dc+sd-jwt',
    'web-semantic': 'ldp_vc',
    compact: 'cwt',
    'compact-semantic': 'cwt_vc',
    mobile: 'mso_mdoc',
  };
  /** Members of bodies, and the lists that have their values. */
  const MEMBERS = {
    environmentId: ['/v1/environments'],
    iacaId: ['/v2/credentials/mobile/iacas'],
    credentials: Object.keys(FORMATS).map((format) => '/v2/credentials/' + format + '/configurations'),
  };

  const lists = new Map();
  /** First entry of a list; each list is requested at most once a minute. */
  const firstOf = (address) => {
    const known = lists.get(address);
    if (known && known.until > Date.now()) return known.entry;
    const entry = fetch(address, { headers: { accept: 'application/json', authorization: 'Bearer ' + token } })
      .then((answer) => (answer.ok ? answer.json() : {}))
      .then(({ data }) => (Array.isArray(data) ? data[0] : undefined))
      .catch(() => undefined);
    lists.set(address, { entry, until: Date.now() + LIST_MS });
    return entry;
  };

  let document_;
  const listAt = (template, address) => {
    const found = document_.paths[template]?.get;
    const isLimited = found?.parameters?.some(({ name, in: place }) => place === 'query' && name === 'limit');
    if (found) return firstOf(address + (isLimited ? '?limit=1' : ''));
    const format = FORMATS[/^\/v2\/credentials\/([\w-]+)$/.exec(template)?.[1]];
    return format && document_.paths['/v2/credentials']
      ? firstOf('/v2/credentials?limit=1&format=' + encodeURIComponent(format))
      : undefined;
  };

  const fillPath = async (system, path, method) => {
    let address = '';
    for (const [index, part] of path.split('/').entries()) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (index === 0) continue;
      if (name === undefined) {
        address += '/' + part;
        continue;
      }
      const entry = await listAt(path.split('/').slice(0, index).join('/'), address);
      const value = entry?.[name] ?? entry?.id ?? entry?.did;
      if (typeof value !== 'string') return;
      address += '/' + encodeURIComponent(value);
      const pathMethod = [path, method];
      const parameter = system.specSelectors
        .specJson()
        .getIn(['paths', path, method, 'parameters'])
        .find((one) => one.get('name') === name && one.get('in') === 'path');
      const current = system.specSelectors.parameterWithMetaByIdentity(pathMethod, parameter)?.get('value');
      if (!current) system.specActions.changeParamByIdentity(pathMethod, parameter, value, false);
    }
  };

  const isSame = (text, example) => {
    try {
      return !text || JSON.stringify(JSON.parse(text)) === JSON.stringify(example);
    } catch {
      return false;
    }
  };
  const fillBody = async (system, path, method, operation) => {
    const example = operation.requestBody?.content?.['application/json']?.example;
    if (example === null || typeof example !== 'object') return;
    const filled = { ...example };
    for (const [member, addresses] of Object.entries(MEMBERS)) {
      if (!Object.hasOwn(example, member)) continue;
      for (const address of addresses) {
        const id = (await listAt(address, address))?.id;
        if (typeof id !== 'string') continue;
        filled[member] = Array.isArray(example[member]) ? [id] : id;
        break;
      }
    }
    if (JSON.stringify(filled) === JSON.stringify(example)) return;
    // What the person has written stays.
    if (!isSame(system.oas3Selectors.requestBodyValue(path, method), example)) return;
    system.oas3Actions.setRequestBodyValue({ value: JSON.stringify(filled, null, 2), pathMethod: [path, method] });
  };

  const opened = new Set();
  const fill = (system, operationId) => {
    if (!token) return;
    document_ ??= system.specSelectors.specJson().toJS();
    for (const [path, methods] of Object.entries(document_.paths))
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.operationId !== operationId || !operation.security?.some((one) => SCHEME in one)) continue;
        // What is deleted is chosen by the person.
        if (method !== 'delete') void fillPath(system, path, method);
        void fillBody(system, path, method, operation);
      }
  };

  const plugin = () => ({
    fn: { opsFilter },
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (original, system) => (payload) => {
            if (payload?.[SCHEME]) keep(payload[SCHEME].value);
            const done = original(payload);
            for (const operationId of opened) fill(system, operationId);
            return done;
          },
          logout: (original) => (names) => {
            if (names.includes(SCHEME)) keep(undefined);
            lists.clear();
            return original(names);
          },
        },
      },
      layout: {
        wrapActions: {
          show: (original, system) => (thing, isShown) => {
            const [kind, , operationId, part] = thing;
            if (kind === 'operations' && part === 'try-it-out' && isShown) {
              opened.add(operationId);
              fill(system, operationId);
            }
            return original(thing, isShown);
          },
        },
        wrapSelectors: {
          // What the filter finds is shown.
          isShown: (original) => (state, thing, byDefault) =>
            (thing[0] === 'operations-tag' && isFiltering(state)) || original(thing, byDefault),
        },
      },
    },
  });

  document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);
  const viewer = SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#viewer',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    persistAuthorization: false,
    plugins: [plugin],
    onComplete: () => {
      const kept = stored((storage) => storage.getItem(KEY));
      if (kept && isExpired(kept)) keep(undefined);
      else if (kept) {
        keep(kept);
        viewer.preauthorizeApiKey(SCHEME, kept);
      }
      document.getElementById('token-call').open = !token;
      document.querySelector('.operation-filter-input')?.setAttribute('placeholder', 'Filter operations');
      document.querySelector('.operation-filter-input')?.setAttribute('aria-label', 'Filter operations');
    },
  });
})();
`;

/** Above the viewer, in both of its color schemes. */
export const START_STYLE = `:root{color-scheme:light dark}
body{margin:0}
#token-call{box-sizing:border-box;max-width:1460px;margin:0 auto;padding:1rem 20px 0;font:.875rem/1.5 sans-serif;color:#3b4151}
#token-call summary{cursor:pointer;font-weight:700}
#token-call pre{margin:.5rem 0;padding:.75rem;border-radius:4px;background:#f1f3f5;white-space:pre-wrap;overflow-wrap:anywhere}
.swagger-ui .filter .operation-filter-input{box-sizing:border-box;width:100%}
#token-call code{font:.8125rem/1.5 ui-monospace,monospace}
:focus-visible{outline:3px solid #0b5394;outline-offset:2px}
html.dark-mode #token-call{color:#e6e8eb}
html.dark-mode #token-call pre{background:#22272d}
html.dark-mode :focus-visible{outline-color:#8cc4ff}
`;
