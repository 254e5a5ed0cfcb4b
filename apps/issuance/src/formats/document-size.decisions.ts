/** Limit of a credential that is kept, JSON in UTF-8 (ADR 0070): sealed twice, it is in one event of less than 1 MiB. */
export const MAX_DOCUMENT_BYTES = 384 * 1024;
/** Most bytes of a credential beside its claims: keys, times, status, certificates, signature. */
const BESIDE_CLAIMS_BYTES = 16 * 1024;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

export const base64Bytes = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Why a credential of these claims cannot be kept; no credential that this admits is refused when it is issued. */
export const documentSizeFault = (
  format: { documentBytesOf?(claims: Record<string, unknown>): number },
  claims: Record<string, unknown>,
): string | undefined => {
  const bytes = format.documentBytesOf?.(claims) ?? base64Bytes(jsonBytes(claims));
  return bytes + BESIDE_CLAIMS_BYTES > MAX_DOCUMENT_BYTES
    ? `a credential that is persisted or delivered to a webhook must be at most 384 KiB, of which ${BESIDE_CLAIMS_BYTES / 1024} KiB are beside its claims`
    : undefined;
};
