import type { Database, Jobs } from '@attestry/sqlite';
import type { Found, SigningKeyRow } from '../stored/key-store.js';
import type { Row } from './key-row.js';

const signingKey = (row: Row): SigningKeyRow => ({
  keyId: row['key_id'] as string,
  tenant: row['tenant'] as string,
  purpose: row['purpose'] as string,
  algorithm: row['algorithm'] as string,
  publicJwk: row['public_jwk'] as string,
  createdAt: row['created_at'] as string,
  sealed: row['sealed'] as Uint8Array,
});

export const createJobs = (db: Database): Jobs => {
  const tenantEnded = db.prepare('SELECT 1 FROM tenant_keys WHERE tenant = ? AND live = 0');
  const insertSigningKey = db.prepare(
    `INSERT INTO signing_keys (key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?)`,
  );
  // The rows of an ended tenant are overwritten in portions; its own key is gone already.
  const ofLiveTenant = `tenant = ? AND live = 1 AND NOT EXISTS (
    SELECT 1 FROM tenant_keys ended WHERE ended.tenant = signing_keys.tenant AND ended.live = 0)`;
  const signingKeyById = db.prepare(`SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND key_id = ?`);
  const signingKeysByPurpose = db.prepare(
    `SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND purpose = ? ORDER BY seq`,
  );
  const newestSigningKey = db.prepare(
    `SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND purpose = ? AND algorithm = ? ORDER BY seq DESC LIMIT 1`,
  );
  const putSigningKeys = (rows: SigningKeyRow[]): void => {
    for (const r of rows)
      insertSigningKey.run(r.keyId, r.tenant, r.purpose, r.algorithm, r.publicJwk, r.createdAt, r.sealed);
  };

  return {
    putSigningKeys: {
      kind: 'write',
      execute: (args: { tenant: string; rows: SigningKeyRow[] }): 'made' | 'destroyed' => {
        if (tenantEnded.get(args.tenant)) return 'destroyed';
        putSigningKeys(args.rows);
        return 'made';
      },
    },
    ensureSigningKey: {
      kind: 'write',
      execute: (row: SigningKeyRow): Found<SigningKeyRow> => {
        if (tenantEnded.get(row.tenant)) return { state: 'destroyed' };
        const newest = newestSigningKey.get(row.tenant, row.purpose, row.algorithm) as Row | undefined;
        if (newest) return { state: 'live', row: signingKey(newest) };
        putSigningKeys([row]);
        return { state: 'live', row };
      },
    },
    signingKey: {
      kind: 'read',
      execute: (args: { tenant: string; keyId: string }): SigningKeyRow | undefined => {
        const row = signingKeyById.get(args.tenant, args.keyId) as Row | undefined;
        return row && signingKey(row);
      },
    },
    newestSigningKey: {
      kind: 'read',
      execute: (args: { tenant: string; purpose: string; algorithm: string }): SigningKeyRow | undefined => {
        const row = newestSigningKey.get(args.tenant, args.purpose, args.algorithm) as Row | undefined;
        return row && signingKey(row);
      },
    },
    signingKeys: {
      kind: 'read',
      execute: (args: { tenant: string; purpose: string }): SigningKeyRow[] =>
        (signingKeysByPurpose.all(args.tenant, args.purpose) as Row[]).map(signingKey),
    },
  };
};
