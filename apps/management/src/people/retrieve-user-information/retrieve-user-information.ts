import { retrieveUserInformation, type ContextOf, type UserInformation } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { registered } from '../../users/management-user/management-user.decisions.js';
import { People } from '../../users/people/people.js';
import { userInformation } from '../user-information/user-information.js';

@Operation(retrieveUserInformation)
export class RetrieveUserInformation {
  constructor(private readonly people: People) {}

  async execute(_request: unknown, context: ContextOf<typeof retrieveUserInformation>): Promise<UserInformation> {
    const user = registered(await this.people.user(context.caller.userId));
    return userInformation(user.id, await this.people.openPerson(user));
  }
}
