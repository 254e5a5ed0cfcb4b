import { retrieveUserInformation, type ManagementContext, type UserInformation } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { callingUser } from '../caller/management-caller.js';
import { registered } from '../management-user/management-user.decisions.js';
import { People } from '../people/people.js';
import { userInformation } from '../people/user-information.js';

@Operation(retrieveUserInformation)
export class RetrieveUserInformation {
  constructor(private readonly people: People) {}

  async execute(_request: unknown, context: ManagementContext): Promise<UserInformation> {
    const user = registered(await this.people.user(callingUser(context)));
    return userInformation(user.id, await this.people.openPerson(user));
  }
}
