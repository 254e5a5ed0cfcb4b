/** A page is sent as one message and serialized on the thread that serves all tenants (ADR 0041). */
const LARGEST_PAGE = 512 * 1024;

/** How many of the first entries make a page: one, however large it is, and more as long as they do not exceed 512 KB together. */
export const countFitting = (sizes: readonly number[]): number => {
  let total = 0;
  for (const [index, size] of sizes.entries()) {
    total += size;
    if (index > 0 && total > LARGEST_PAGE) return index;
  }
  return sizes.length;
};
