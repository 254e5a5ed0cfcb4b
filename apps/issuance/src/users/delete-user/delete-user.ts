import { deleteUser, unavailable, type ClientContext } from '@attestry/contracts';
import { Sealing } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { firstSessionId } from '../known-users/first-session-id.js';
import { KnownUsers } from '../known-users/known-users.js';
import { activeUser, deleteUser as decide } from '../user/user.decisions.js';
import { UsersReadModel } from '../user/users.read-model.js';

/** How long offers created just before may take to appear in the read model. */
const CATCH_UP_MS = 1000;

/**
 * Keys are destroyed before the event is written (ADR 0058); in the other order a failed destruction would leave values of a deleted user
 * readable. The reaction `issuance.erasures` destroys them again, also after a restore of the key store.
 */
@Operation(deleteUser)
export class DeleteUser {
  constructor(
    private readonly known: KnownUsers,
    private readonly sealing: Sealing,
    private readonly users: UsersReadModel,
  ) {}

  async execute({ params }: RequestOf<typeof deleteUser>, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    const { id } = activeUser((await this.known.load(tenantId, params.id)).state);
    // Otherwise the key of an offer for the user could remain.
    if (!(await this.users.running.waitForHead(CATCH_UP_MS)) || !this.users.running.readsOwnVersion)
      throw unavailable();
    // The session of a new user is known without the read model, which may be behind.
    const destroyedKeys = [...new Set([id, firstSessionId(id), ...(await this.users.sessionsOf(tenantId, id))])];
    await this.sealing.destroyDataKeys(tenantId, destroyedKeys);
    const deleted = await this.known.runDecision(
      tenantId,
      id,
      (state) => decide(state, { destroyedKeys }),
      eventContext(context),
    );
    await this.users.running.ownWrite(deleted.position);
  }
}
