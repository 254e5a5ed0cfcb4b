import type { Adapter, AdapterPayload } from 'oidc-provider';
import { isErased, PLATFORM, type Sealing, type SignInRecord, type SignInRecords } from '@attestry/keys';

/** Lifetime of a person's access token. */
export const ACCESS_TOKEN_SECONDS = 3600;

/** Data key of all state of the provider. */
const KEY = 'sign-in';

/** For a record without an expiry. */
const LONGEST_SECONDS = 90 * 86_400;

/**
 * How long a code is kept after it has expired, seconds: as long as a token that was issued for it can live, so that a second use revokes
 * that token whenever it happens (RFC 6749 §4.1.2). The library refuses an expired code by its payload.
 */
const CODE_RETENTION_SECONDS = ACCESS_TOKEN_SECONDS;

/** Grants whose code was used twice. */
const ENDED = 'EndedGrant';

/**
 * Whether the grant's code was used twice. The tokens of a grant are JWTs, so there is no store that the library could remove them from.
 * Signing out ends only the session: a command line keeps its token until it expires.
 */
export const hasEnded = async (records: SignInRecords, grantId: string): Promise<boolean> =>
  (await records.get(ENDED, grantId)) !== undefined;

/** Creates the key once. @returns the store of one model of the provider */
export const storedRecords = async (
  records: SignInRecords,
  sealing: Sealing,
  now: () => number,
): Promise<(model: string) => Adapter> => {
  await sealing.createDataKey(PLATFORM, 'session', KEY);
  return (model) => new StoredRecords(model, records, sealing, now);
};

/** The provider's state of one model: sealed, under the digest of its id, so that the file contains no session id and no code. */
class StoredRecords implements Adapter {
  constructor(
    private readonly model: string,
    private readonly records: SignInRecords,
    private readonly sealing: Sealing,
    private readonly now: () => number,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const life = Number.isFinite(expiresIn) ? expiresIn : LONGEST_SECONDS;
    const seconds = this.isCode ? life + CODE_RETENTION_SECONDS : life;
    await this.records.put({
      kind: this.model,
      key: id,
      sealed: await this.sealing.sealText(PLATFORM, 'session', KEY, JSON.stringify(payload)),
      expiresAt: new Date(this.now() + seconds * 1000),
      ...(payload.uid !== undefined && { alias: payload.uid }),
      ...(payload.grantId !== undefined && { group: payload.grantId }),
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const payload = await this.openRecord(await this.records.get(this.model, id));
    // The library revokes the grant only after the code's other checks; here a second use is enough.
    if (this.isCode && payload?.consumed !== undefined) await this.endGrant(payload);
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.openRecord(await this.records.getByAlias(this.model, uid));
  }

  /** The device flow is not supported. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Single use also holds for concurrent requests: the second is refused. */
  async consume(id: string): Promise<void> {
    if (await this.records.spend(this.model, id)) return;
    if (this.isCode) await this.endGrant(await this.openRecord(await this.records.get(this.model, id)));
    const { errors } = await import('oidc-provider');
    throw new errors.InvalidGrant('already consumed');
  }

  async destroy(id: string): Promise<void> {
    await this.records.remove(this.model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.records.removeGroup(grantId);
  }

  private get isCode(): boolean {
    return this.model === 'AuthorizationCode';
  }

  private async endGrant(code: AdapterPayload | undefined): Promise<void> {
    if (code?.grantId === undefined) return;
    // By then every token of this code is refused: its verifier tolerates a clock skew of some seconds.
    const expiresAt = new Date(this.now() + (ACCESS_TOKEN_SECONDS + 60) * 1000);
    await this.records.put({ kind: ENDED, key: code.grantId, sealed: '', expiresAt });
    await this.records.remove('Grant', code.grantId);
  }

  private async openRecord(record: SignInRecord | undefined): Promise<AdapterPayload | undefined> {
    if (!record) return undefined;
    const text = await this.sealing.openSealed(PLATFORM, 'session', record.sealed);
    if (isErased(text)) return undefined;
    const payload = JSON.parse(text) as AdapterPayload;
    return record.spentAt === undefined ? payload : { ...payload, consumed: Math.floor(record.spentAt / 1000) };
  }
}
