import { isMdlDocType, longestMdocLifetimeDays, MDL_MANDATORY_ELEMENTS, missingMdlElements } from './mdl.js';

const MDL = 'org.iso.18013.5.1.mDL';

describe('an mDL', () => {
  it('must have the mandatory elements of ISO/IEC 18013-5 in its namespace', () => {
    const all = Object.fromEntries(MDL_MANDATORY_ELEMENTS.map((name) => [name, {}]));
    expect(missingMdlElements(MDL, { 'org.iso.18013.5.1': all })).toEqual([]);
    const { portrait, ...others } = all;
    expect(missingMdlElements(MDL, { 'org.iso.18013.5.1': others, 'org.example.1': { portrait } })).toEqual([
      'portrait',
    ]);
    expect(missingMdlElements(MDL, {})).toEqual(MDL_MANDATORY_ELEMENTS);
  });

  it('is the only document type with mandatory elements', () => {
    expect(missingMdlElements('org.iso.18013.5.2.mDL', {})).toEqual([]);
    expect(missingMdlElements('org.example.card', {})).toEqual([]);
  });

  it.each([
    [MDL, 427],
    ['org.iso.18013.5.2.mDL', 427],
    ['org.iso.18013.5.x.mDL', 3620],
    ['org.iso.18013.5.1.mDL.AU', 3620],
    ['orgXiso.18013.5.1.mDL', 3620],
    ['org.iso.23220.photoid.1', 3620],
  ])('lives at most as long as its type allows: %s %i days', (docType, days) => {
    expect(longestMdocLifetimeDays(docType)).toBe(days);
    expect(isMdlDocType(docType)).toBe(days === 427);
  });
});
