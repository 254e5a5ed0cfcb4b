/** Nearest rank in a sorted list; `p` from 0 to 1. */
export const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
};
export const round = (value, digits = 2) => Number(value.toFixed(digits));
/** Mean of the three cheapest: the interference of other processes only adds CPU time. */
export const cheapest = (costs) => {
  const few = costs.toSorted((a, b) => a - b).slice(0, 3);
  return few.reduce((sum, cost) => sum + cost, 0) / few.length;
};
