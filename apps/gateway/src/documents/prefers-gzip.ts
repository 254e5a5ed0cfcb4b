/** `gzip`, with the greater weight, or without a weight for `identity` (RFC 9110 §12.5.3). */
export const prefersGzip = (acceptEncoding: string | undefined): boolean => {
  if (acceptEncoding === undefined) return false;
  const weights = new Map<string, number>();
  for (const entry of acceptEncoding.toLowerCase().split(',')) {
    const [coding, ...parameters] = entry.split(';').map((part) => part.trim());
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
    weights.set(coding!, weight === undefined ? 1 : Number(weight) || 0);
  }
  const ofGzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return ofGzip > 0 && ofGzip >= (weights.get('identity') ?? 0);
};
