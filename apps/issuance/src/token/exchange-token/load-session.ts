import { oauthError } from '@attestry/contracts';
import type { Loaded, Streams } from '@attestry/event-store';
import {
  issuanceSession,
  issuanceSessionStream,
  type IssuanceSessionState,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';

export interface NamedSession {
  sessionId: string;
  stream: string;
  loaded: Loaded<Exclude<IssuanceSessionState, { status: 'absent' }>>;
}

/**
 * The session that the code names, in any state: the call is recorded once it is found (ADR 0072). The tenant is the host's,
 * so another tenant's code names no session (ADR 0059).
 */
export const loadSession = async (streams: Streams, tenantId: string, code: string): Promise<NamedSession> => {
  const { sessionId } = parseBearerValue(code) ?? {};
  if (sessionId === undefined) throw unknownCode();
  const stream = issuanceSessionStream(tenantId, sessionId);
  const loaded = await streams.load(issuanceSession, stream, { cached: true });
  const { state } = loaded;
  if (state.status === 'absent') throw unknownCode();
  return { sessionId, stream, loaded: { ...loaded, state } };
};

/** OID4VCI §6.3. One message for all reasons, so that guessing reveals nothing. */
const unknownCode = () => oauthError('invalid_grant', 'the code is not valid', { check: 'load-session' });
