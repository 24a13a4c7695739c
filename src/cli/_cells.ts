import { cutToColumns, safeLine } from '../base/index.ts'

/** Text from a skill for one cell of a table: on one line, harmless, cut to `width` columns. */
export function cell(text: string, width: number): string {
  return cutToColumns(safeLine(text).trim(), width)
}

/** `12,345`, the same in every locale. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 skill`, `2 skills`. */
export function amount(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** `120 B`, `3.1 KB`, `4.2 MB`. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  if (size < 1_000_000) return `${(size / 1000).toFixed(1)} KB`
  return `${(size / 1_000_000).toFixed(1)} MB`
}
