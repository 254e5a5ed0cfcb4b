// The load's HTTP client. It shares two cores with the server it measures, so it does no more than HTTP/1.1 needs: one
// keep-alive connection per client, one request at a time, answers with Content-Length.
import { connect as connectSocket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

class Connection {
  #socket;
  #received = [];
  #size = 0;
  #wanted = Infinity;
  #head;
  #waiting;

  constructor(port) {
    this.#socket = connectSocket({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  send(text) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(text);
    });
  }

  close() {
    this.#waiting = undefined;
    this.#socket.end();
  }

  #take(chunk) {
    this.#received.push(chunk);
    this.#size += chunk.length;
    if (this.#head === undefined) {
      const all = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
      const end = all.indexOf(HEAD_END);
      if (end < 0) return;
      this.#head = all.toString('latin1', 0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
      this.#wanted = end + HEAD_END.length + length;
      this.#received = [all];
    }
    if (this.#size < this.#wanted) return;
    const all = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received);
    const head = this.#head;
    const start = head.length + HEAD_END.length;
    this.#received = [];
    this.#size = 0;
    this.#head = undefined;
    this.#wanted = Infinity;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting.resolve({ status: Number(head.slice(9, 12)), text: all.toString('utf8', start) });
  }
}

/** `connections` requests at a time, to one port or several in turn; a request waits for a free connection. */
export const connect = (port, connections) => {
  const ports = [port].flat();
  const all = Array.from({ length: connections }, (_, at) => new Connection(ports[at % ports.length]));
  const free = [...all];
  const queue = [];
  const take = async () => free.pop() ?? new Promise((resolve) => queue.push(resolve));
  const give = (connection) => {
    const next = queue.shift();
    if (next) next(connection);
    else free.push(connection);
  };
  return {
    /** Resolves with the parsed JSON body, or with a JWE as it is. @throws on a status that is not expected */
    async send(method, host, path, headers, body = '', expected = 200) {
      let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
      for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
      if (method !== 'GET') text += `content-length: ${Buffer.byteLength(body)}\r\n`;
      const connection = await take();
      const answer = await connection.send(`${text}\r\n${body}`);
      give(connection);
      if (answer.status !== expected)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      if (answer.text === '') return undefined;
      return answer.text.startsWith('ey') ? answer.text : JSON.parse(answer.text);
    },
    close: async () => all.forEach((connection) => connection.close()),
  };
};
