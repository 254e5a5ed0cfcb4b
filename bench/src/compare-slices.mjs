// Two consecutive slices run under the same conditions, the next ones perhaps under others: the ratio is computed inside each pair, and the
// spread over the pairs shows how reliable their median is.
import { cheapest, median, percentile, round } from './statistics.mjs';

const spread = (values, digits) => {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: round(median(sorted), digits),
    quartiles: [0.25, 0.75].map((p) => round(percentile(sorted, p), digits)),
    range: [round(sorted[0], digits), round(sorted.at(-1), digits)],
  };
};

const perCredential = ({ cpuMs, credentials }) => cpuMs / credentials;
const perSecond = ({ credentials, seconds }) => credentials / seconds;
/** @see compare-slices.d.mts */
export const compareSlices = (pairs) => {
  const base = pairs.map((pair) => pair.base);
  const current = pairs.map((pair) => pair.current);
  return {
    pairs: pairs.length,
    cpuRatio: spread(
      pairs.map((pair) => perCredential(pair.current) / perCredential(pair.base)),
      3,
    ),
    cpuRatioOfCheapest: round(cheapest(current.map(perCredential)) / cheapest(base.map(perCredential)), 3),
    rateRatio: spread(
      pairs.map((pair) => perSecond(pair.current) / perSecond(pair.base)),
      3,
    ),
    cpuMsPerCredential: {
      base: spread(base.map(perCredential), 2),
      current: spread(current.map(perCredential), 2),
    },
    credentialsPerSecond: {
      base: spread(base.map(perSecond), 0),
      current: spread(current.map(perSecond), 0),
    },
  };
};

/** ABBA: a machine that gets steadily slower or faster favors neither version. */
export const orderOf = (pair) => (pair % 2 === 0 ? ['base', 'current'] : ['current', 'base']);
