import { Injectable } from '@nestjs/common';
import { invalid } from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { CursorCodec, InvalidCursor } from '@attestry/read-model';

export const DEFAULT_LIMIT = 100;

/** Cursors that only this deployment makes, each good for one list of one owner. */
@Injectable()
export class ListCursors {
  constructor(private readonly vault: KeyVault) {}

  codec(list: string, owner: string): CursorCodec {
    return new CursorCodec({
      mac: (text) => this.vault.mac(text, 'cursor').mac,
      scope: JSON.stringify(['management', list, owner]),
    });
  }

  /** Runs a paged query; a cursor the list did not give out is a 400. */
  async read<T>(run: () => Promise<T> | T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof InvalidCursor) throw invalid({ msg: 'Invalid value', param: 'cursor', location: 'query' });
      throw error;
    }
  }
}
