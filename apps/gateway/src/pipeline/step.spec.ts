import { errorOf, exchangeOf } from './exchange.spec-fixture.js';
import { runSteps, type Step } from './step.js';

const deps = {} as never;
const ran: string[] = [];
const sync =
  (name: string): Step =>
  () =>
    void ran.push(name);
const slow =
  (name: string): Step =>
  async () => {
    await new Promise((resolve) => setImmediate(resolve));
    ran.push(name);
  };
const broken: Step = () => {
  throw new Error('refused');
};
beforeEach(() => void (ran.length = 0));

describe('steps', () => {
  it('that are synchronous run without awaiting', () => {
    expect(runSteps([sync('a'), sync('b')], exchangeOf(), deps)).toBeUndefined();
    expect(ran).toEqual(['a', 'b']);
  });

  it('are run one after the other', async () => {
    await runSteps([sync('a'), slow('b'), sync('c'), slow('d')], exchangeOf(), deps);
    expect(ran).toEqual(['a', 'b', 'c', 'd']);
  });

  it('end with the first that throws', async () => {
    expect(() => runSteps([sync('a'), broken, sync('c')], exchangeOf(), deps)).toThrow('refused');
    await errorOf(() => runSteps([slow('b'), broken, sync('c')], exchangeOf(), deps));
    expect(ran).toEqual(['a', 'b']);
  });
});
