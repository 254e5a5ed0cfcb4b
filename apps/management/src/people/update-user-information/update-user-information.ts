import { updateUserInformation, type ContextOf, type UserInformation } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { PLATFORM } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { nameUser, registered } from '../../users/management-user/management-user.decisions.js';
import { managementUser, managementUserStream } from '../../users/management-user/management-user.state.js';
import { People } from '../../users/people/people.js';
import { userInformation } from '../user-information/user-information.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';

@Operation(updateUserInformation)
export class UpdateUserInformation {
  constructor(
    private readonly streams: Streams,
    private readonly people: People,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(
    request: RequestOf<typeof updateUserInformation>,
    context: ContextOf<typeof updateUserInformation>,
  ): Promise<UserInformation> {
    const { name } = request.body;
    const user = registered(await this.people.user(context.caller.userId));
    const sealedName = await this.people.seal(user.id, name);
    const { position } = await this.streams.runDecision(
      managementUser,
      managementUserStream(user.id),
      (state) => nameUser(state, { sealedName }),
      eventContext(context, PLATFORM),
    );
    await this.lists.settled(position);
    const { email } = await this.people.openPerson(user);
    return userInformation(user.id, { email, name });
  }
}
