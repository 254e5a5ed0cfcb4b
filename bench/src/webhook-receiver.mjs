// Receives webhooks in a separate process and reports to its parent, in batches, when each event arrived.
import { createServer } from 'node:http';

const EVENT_ID = /"event":\{"id":"([^"]+)"/;
let arrived = [];
setInterval(() => {
  if (!arrived.length) return;
  process.send(arrived);
  arrived = [];
}, 20);

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    arrived.push([EVENT_ID.exec(text)[1], performance.timeOrigin + performance.now()]);
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
