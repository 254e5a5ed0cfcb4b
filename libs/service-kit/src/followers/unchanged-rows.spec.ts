import { UnchangedRows } from './unchanged-rows.js';

describe('unchanged rows', () => {
  const health: { position?: string } = { position: '7' };
  const running = { isLeading: true, health };
  const rows = new UnchangedRows([{ running }]);
  const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000);
  beforeEach(() => {
    running.isLeading = true;
    health.position = '7';
    rows.remember(rows.positions(), at(0), at(10).getTime());
  });

  it('are not known before the first query', () => {
    expect(new UnchangedRows([{ running }]).hold(at(0))).toBe(false);
  });
  it('hold until the next row is due', () => {
    expect([rows.hold(at(9.9)), rows.hold(at(10))]).toEqual([true, false]);
  });
  it('hold for 15 seconds where no row will be due', () => {
    rows.remember(rows.positions(), at(0));
    expect([rows.hold(at(14.9)), rows.hold(at(15))]).toEqual([true, false]);
  });
  it('end when more is projected, also between the query and its end', () => {
    health.position = '8';
    expect(rows.hold(at(1))).toBe(false);
    const before = rows.positions();
    health.position = '9';
    rows.remember(before, at(1));
    expect(rows.hold(at(1))).toBe(false);
  });
  it('are not known where another process projects', () => {
    running.isLeading = false;
    expect(rows.hold(at(1))).toBe(false);
  });
});
