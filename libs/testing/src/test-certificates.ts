import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of PEM files. */
export interface TestCertificates {
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

export const hasOpenssl = (): boolean => spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

const openssl = (...args: string[]): void => {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
};

/** A certificate authority, a certificate of it for a server on 127.0.0.1, localhost and further hosts, and one for a client, valid for a day. */
export const makeTestCertificates = (folder: string, hosts: readonly string[] = []): TestCertificates => {
  const path = (name: string) => join(folder, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const ca = { cert: path('ca.crt'), key: path('ca.key') };
  openssl('req', '-x509', ...newKey, '-keyout', ca.key, '-out', ca.cert, '-days', '1', '-subj', '/CN=Test CA');
  const issue = (name: string, extensions: string) => {
    const made = { cert: path(`${name}.crt`), key: path(`${name}.key`) };
    const [request, config] = [path(`${name}.csr`), path(`${name}.ext`)];
    writeFileSync(config, extensions);
    openssl('req', ...newKey, '-keyout', made.key, '-out', request, '-subj', `/CN=${name}`);
    const signed = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '1', '-extfile', config];
    openssl('x509', '-req', '-in', request, '-out', made.cert, ...signed);
    return made;
  };
  return {
    ca: ca.cert,
    server: issue(
      'server',
      `subjectAltName=IP:127.0.0.1,${['localhost', ...hosts].map((host) => `DNS:${host}`).join(',')}\nextendedKeyUsage=serverAuth\n`,
    ),
    client: issue('client', 'extendedKeyUsage=clientAuth\n'),
  };
};
