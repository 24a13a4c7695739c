import { compareText } from '../base/index.ts'

/** In code-point order; cheap for the usual case of many names that are in order already. */
export function sortText(list: readonly string[]): string[] {
  return list.toSorted(orderOf)
}

/** {@link compareText}, without taking apart what compares the same by code unit. */
export function orderOf(a: string, b: string): number {
  if (a === b) return 0
  // Code-unit order differs from code-point order only where surrogates meet U+E000 to U+FFFF.
  if (surrogate.test(a) || surrogate.test(b)) return compareText(a, b)
  return a < b ? -1 : 1
}

const surrogate = /[\ud800-\udfff]/
