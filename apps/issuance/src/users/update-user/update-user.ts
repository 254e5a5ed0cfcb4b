import { notFound, updateUser, type ClientContext, type User } from '@attestry/contracts';
import { isErased, KeyNotFound, Sealing } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { KnownUsers } from '../known-users/known-users.js';
import { UserClaims } from '../user/user-claims.js';
import { activeUser, checkUser, replaceUserClaims } from '../user/user.decisions.js';
import type { UserState } from '../user/user.state.js';
import { UsersReadModel } from '../user/users.read-model.js';

@Operation(updateUser)
export class UpdateUser {
  constructor(
    private readonly known: KnownUsers,
    private readonly sealing: Sealing,
    private readonly claims: UserClaims,
    private readonly users: UsersReadModel,
  ) {}

  async execute({ params, body }: RequestOf<typeof updateUser>, context: ClientContext): Promise<User> {
    const text = JSON.stringify(body.claims ?? {});
    checkUser(body, Buffer.byteLength(text));
    const tenantId = context.tenant.id;
    const updated = await this.known.runDecision(
      tenantId,
      params.id,
      async (state) => replaceUserClaims(state, { sealedClaims: await this.seal(tenantId, state, text) }),
      eventContext(context),
    );
    const [shown] = await Promise.all([
      this.claims.viewOf(tenantId, activeUser(updated.state)),
      this.users.running.ownWrite(updated.position),
    ]);
    if (isErased(shown)) throw notFound();
    return shown;
  }

  private async seal(tenantId: string, state: UserState, text: string): Promise<string> {
    const { id } = activeUser(state);
    try {
      // A user without claims has no key yet.
      await this.sealing.createDataKey(tenantId, 'user', id);
      return await this.sealing.sealText(tenantId, 'user', id, text);
    } catch (error) {
      // Being deleted: its key is destroyed first.
      throw error instanceof KeyNotFound ? notFound() : error;
    }
  }
}
