import type { Adapter, AdapterPayload } from 'oidc-provider';
import { isErased, PLATFORM, type ExpiringRecord, type ExpiringRecords, type KeyVault } from '@attestry/keys';

/** Data key of everything the provider keeps. */
const KEY = 'sign-in';

/** For a record that would have no end. */
const LONGEST_SECONDS = 90 * 86_400;

/** Makes the key once. @returns the store of one model of the provider */
export const keptState = async (
  records: ExpiringRecords,
  vault: KeyVault,
  now: () => number,
): Promise<(model: string) => Adapter> => {
  await vault.createDataKey(PLATFORM, 'session', KEY);
  return (model) => new KeptState(model, records, vault, now);
};

/** What the provider keeps of one model: sealed, under the digest of its id, so that no session and no code stands in a file. */
class KeptState implements Adapter {
  constructor(
    private readonly model: string,
    private readonly records: ExpiringRecords,
    private readonly vault: KeyVault,
    private readonly now: () => number,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const seconds = Number.isFinite(expiresIn) ? expiresIn : LONGEST_SECONDS;
    await this.records.put({
      kind: this.model,
      key: id,
      sealed: await this.vault.seal(PLATFORM, 'session', KEY, JSON.stringify(payload)),
      expiresAt: new Date(this.now() + seconds * 1000),
      ...(payload.uid !== undefined && { alias: payload.uid }),
      ...(payload.grantId !== undefined && { group: payload.grantId }),
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.opened(await this.records.get(this.model, id));
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
    const { errors } = await import('oidc-provider');
    throw new errors.InvalidGrant('already consumed');
  }

  async destroy(id: string): Promise<void> {
    await this.records.remove(this.model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.records.removeGroup(grantId);
  }

  private async opened(record: ExpiringRecord | undefined): Promise<AdapterPayload | undefined> {
    if (!record) return undefined;
    const text = await this.vault.open(PLATFORM, 'session', record.sealed);
    if (isErased(text)) return undefined;
    const payload = JSON.parse(text) as AdapterPayload;
    return record.spentAt === undefined ? payload : { ...payload, consumed: Math.floor(record.spentAt / 1000) };
  }
}
