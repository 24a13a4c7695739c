/**
 * A name with every letter replaced by the one it is taken for. Two names with one skeleton look
 * alike. A small part of Unicode's confusables: what imitates the letters, digits and hyphens that
 * names of skills consist of.
 */
export function skeletonOf(name: string): string {
  const latin = /^[a-z0-9-]*$/.test(name)
    ? name.replaceAll('0', 'o').replaceAll('1', 'l')
    : latinOf(name)
  return latin.replaceAll('rn', 'm').replaceAll('vv', 'w')
}

function latinOf(name: string): string {
  return Array.from(
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{Mark}|\p{Default_Ignorable_Code_Point}/gu, ''),
    (letter) => lookalikes.get(letter) ?? letter,
  ).join('')
}

/** For each letter what looks like it; Cyrillic, Greek, Armenian, Cherokee and others. */
const table: Readonly<Record<string, string>> = {
  a: 'аɑα',
  b: 'ьᏏ',
  c: 'сϲᴄ',
  d: 'ԁɗ',
  e: 'еҽєε',
  f: 'ſƒք',
  g: 'ɡց',
  h: 'һհ',
  i: 'іıɩι',
  j: 'јϳ',
  k: 'кκ',
  l: '1|ӏⅼǀ',
  m: 'мⅿ',
  n: 'ոռп',
  o: '0оοσօ',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'սυʋ',
  v: 'ѵν',
  w: 'ԝաωѡ',
  x: 'хχ',
  y: 'уүγყ',
  z: 'ᴢʐ',
  '-': '‐‑‒–—―−_',
}

const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries(table).flatMap(([letter, others]) =>
    Array.from(others, (other) => [other, letter] as const),
  ),
)
