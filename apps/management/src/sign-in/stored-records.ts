import type { Adapter, AdapterPayload } from 'oidc-provider';
import { isErased, PLATFORM, type Sealing, type SignInRecord, type SignInRecords } from '@attestry/keys';

/** Life of an access token of a person. */
export const ACCESS_TOKEN_SECONDS = 3600;

/** Data key of everything the provider keeps. */
const KEY = 'sign-in';

/** For a record that would have no end. */
const LONGEST_SECONDS = 90 * 86_400;

/**
 * How long a code is kept after it has expired, seconds: as long as a token that was issued for it can live, so that a second use
 * ends that token whenever it comes (RFC 6749 §4.1.2). The library refuses an expired code by its payload.
 */
const CODE_RETENTION_SECONDS = ACCESS_TOKEN_SECONDS;

/** Grants whose code came a second time. */
const ENDED = 'EndedGrant';

/**
 * Whether the grant's code was used twice. The tokens of a grant are JWTs, which stand in no store that the library could
 * remove them from. Signing out ends the session alone: a command line keeps its token until it expires.
 */
export const hasEnded = async (records: SignInRecords, grantId: string): Promise<boolean> =>
  (await records.get(ENDED, grantId)) !== undefined;

/** Makes the key once. @returns the store of one model of the provider */
export const storedRecords = async (
  records: SignInRecords,
  sealing: Sealing,
  now: () => number,
): Promise<(model: string) => Adapter> => {
  await sealing.createDataKey(PLATFORM, 'session', KEY);
  return (model) => new StoredRecords(model, records, sealing, now);
};

/** What the provider keeps of one model: sealed, under the digest of its id, so that no session and no code stands in a file. */
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
    const payload = await this.opened(await this.records.get(this.model, id));
    // The library ends the grant only after the code's other checks; a used code that comes again is enough.
    if (this.isCode && payload?.consumed !== undefined) await this.endGrant(payload);
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.opened(await this.records.getByAlias(this.model, uid));
  }

  /** There is no device flow. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Single use holds for two at once too: the second is refused. */
  async consume(id: string): Promise<void> {
    if (await this.records.spend(this.model, id)) return;
    if (this.isCode) await this.endGrant(await this.opened(await this.records.get(this.model, id)));
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
    // Every token of this code is refused by then: its verifier tolerates clocks that differ by some seconds.
    const expiresAt = new Date(this.now() + (ACCESS_TOKEN_SECONDS + 60) * 1000);
    await this.records.put({ kind: ENDED, key: code.grantId, sealed: '', expiresAt });
    await this.records.remove('Grant', code.grantId);
  }

  private async opened(record: SignInRecord | undefined): Promise<AdapterPayload | undefined> {
    if (!record) return undefined;
    const text = await this.sealing.openSealed(PLATFORM, 'session', record.sealed);
    if (isErased(text)) return undefined;
    const payload = JSON.parse(text) as AdapterPayload;
    return record.spentAt === undefined ? payload : { ...payload, consumed: Math.floor(record.spentAt / 1000) };
  }
}
