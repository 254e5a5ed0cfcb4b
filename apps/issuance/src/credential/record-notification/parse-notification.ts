import {
  isUuid,
  jsonFaultPosition,
  mediaTypeOf,
  NOTIFICATION_EVENTS,
  NotificationRequest,
  oauthError,
  type NotificationEvent,
  type RawRequest,
} from '@attestry/contracts';
import { maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { isObject } from '../../reading/raw-request/raw-request.js';

const MAX_LENGTHS = maxLengthsOf(NotificationRequest);
/** OID4VCI 1.0 §11.1 */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * OID4VCI 1.0 §11.1 and §11.3. Unknown members are ignored. The description is checked and dropped: it is text of the wallet, which may
 * contain personal data.
 */
export const parseNotification = ({ headers, text }: RawRequest): { id: string; event: NotificationEvent } => {
  if (mediaTypeOf(headers['content-type']) !== 'application/json')
    throw refused('the content type must be application/json');
  const { notification_id: id, event, event_description: description } = objectOf(text);
  checkText('notification_id', id);
  if (!isOneOf(event)) throw refused(`event must be one of: ${NOTIFICATION_EVENTS.join(', ')}`);
  if (description !== undefined) {
    checkText('event_description', description);
    if (!DESCRIPTION.test(description))
      throw refused('event_description must be printable ASCII without quotation marks and backslashes');
  }
  if (!isUuid(id)) throw invalidNotificationId();
  return { id, event };
};

const objectOf = (text: string): Record<string, unknown> => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refused(`the body must be JSON: ${jsonFaultPosition(text)}`);
  }
  if (!isObject(body)) throw refused('the body must be a JSON object');
  return body;
};

function checkText(member: string, value: unknown): asserts value is string {
  if (value === undefined) throw refused(`${member} is missing`);
  if (typeof value !== 'string') throw refused(`${member} must be a string`);
  const most = MAX_LENGTHS.get(member)!;
  if (value.length > most) throw refused(`${member} must have at most ${most} characters`);
}

const isOneOf = (value: unknown): value is NotificationEvent =>
  (NOTIFICATION_EVENTS as readonly unknown[]).includes(value);

const refused = (description: string) =>
  oauthError('invalid_notification_request', description, { check: 'parse-notification' });

/** No response of this session had it. */
export const invalidNotificationId = () =>
  oauthError('invalid_notification_id', 'notification_id is not one of a response to this access token', {
    check: 'record-notification',
  });
