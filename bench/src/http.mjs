// The load's HTTP client: connects to 127.0.0.1 whatever the host name, and keeps the Host header.
import { Pool } from 'undici';

export const connect = (port, connections) => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  return {
    /** Resolves with the parsed JSON body. @throws on a status that is not expected */
    async send(method, host, path, headers, body, expected = 200) {
      const { statusCode, body: answer } = await pool.request({ method, path, headers: { host, ...headers }, body });
      const text = await answer.text();
      if (statusCode !== expected) throw new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 300)}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    close: () => pool.close(),
  };
};
