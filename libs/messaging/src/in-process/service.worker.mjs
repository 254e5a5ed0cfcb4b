// Test fixture: one service in a thread of its own, from source. Node resolves no `.js` to `.ts` and strips no
// parameter properties, so two hooks do both.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { transformSync } from '@swc/core';

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('.')) return next(specifier, context);
    const url = new URL(specifier, context.parentURL);
    const path = fileURLToPath(url);
    if (existsSync(path) || !path.endsWith('.js')) return next(specifier, context);
    return { url: url.href.replace(/\.js$/, '.ts'), format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), { filename: fileURLToPath(url) });
    return { source: code, format: 'module', shortCircuit: true };
  },
});

const { InProcessBus } = await import('./in-process-bus.js');
const { port, service } = workerData;
const bus = InProcessBus.connect(port, {
  onError: (subject, error) => {
    throw new Error(subject, { cause: error });
  },
});

if (service === 'dids') {
  bus.serve('op.dids.create-did', async (data, headers) => {
    await bus.publish([{ id: data.id, subject: 'event.dids.did-created', headers, data: { id: data.id } }]);
    return { ok: true, data: { id: data.id, tenant: headers.tenant } };
  });
} else {
  const seen = [];
  bus.consume({ name: 'issuance', subjects: ['event.dids.>'] }, async (messages) => {
    seen.push(...messages.map(({ id }) => id));
  });
  bus.serve('op.issuance.offer', async (data, headers) => {
    const did = await bus.request('op.dids.create-did', { id: data.id }, { headers, timeoutMs: 5000 });
    return { ok: true, data: { did: did.data, offered: data.id } };
  });
  bus.serve('op.issuance.seen', async () => ({ ok: true, data: seen }));
}
bus.serve(`op.${service}.leave`, async () => {
  setImmediate(() => void bus.close());
  return { ok: true, data: null };
});
