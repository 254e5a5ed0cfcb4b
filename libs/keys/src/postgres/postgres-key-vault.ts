import { openDatabase, type PostgresOptions } from '@attestry/postgres';
import { MasterKeys, type MasterKeyOptions } from '../master-keys.js';
import { SealingKeyVault } from '../sealing-key-vault.js';
import { KeyNews } from './key-news.js';
import { PostgresKeyStorage } from './postgres-key-storage.js';
import { KEY_TABLES } from './schema.js';

export type PostgresKeyVaultOptions = PostgresOptions & {
  /** Tenant keys and peppers wrapped by an older version are rewrapped by the current one when the vault opens. */
  masterKeys: MasterKeyOptions;
  /** Stamps `createdAt`. */
  clock?: () => Date;
};

/**
 * KeyVault in one schema of PostgreSQL, for several processes. Keys are kept in memory only while the others' destructions
 * are heard of: when that connection is lost they are dropped, and every use asks the database.
 */
export class PostgresKeyVault extends SealingKeyVault {
  private news: KeyNews | undefined;

  /**
   * @throws Error when the tables are missing or those of an older release
   * @throws MasterKeyMismatch when they were sealed with another master key, or with a version that is not given
   */
  static async open(options: PostgresKeyVaultOptions): Promise<PostgresKeyVault> {
    const { masterKeys, clock = () => new Date(), ...database } = options;
    const keys = new MasterKeys(masterKeys);
    const pool = await openDatabase(database, KEY_TABLES);
    const vault = new PostgresKeyVault(new PostgresKeyStorage(pool, database.schema), keys, clock);
    vault.cacheKeys(false);
    await vault.start();
    await vault.follow(database);
    return vault;
  }

  override async close(): Promise<void> {
    await this.news?.close();
    await super.close();
  }

  private async follow(options: PostgresOptions): Promise<void> {
    this.news = new KeyNews(options, {
      onNews: (item) => {
        if ('tenant' in item) this.evict(item.tenant, item.keyIds);
        else if ('signingKeyOf' in item) this.forgetNewest(item.signingKeyOf);
        else this.reloadPeppers().catch(options.onFailure);
      },
      onHearing: async (hearing) => {
        this.cacheKeys(hearing);
        if (hearing) await this.reloadPeppers();
      },
    });
    await this.news.start();
  }
}
