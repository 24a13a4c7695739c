import { categoryCatalogue } from './catalogue.ts'

const canonicalNames: ReadonlyMap<string, string> = new Map(
  categoryCatalogue.flatMap(({ name, aliases }) =>
    [name, ...aliases].map((alias): [string, string] => [alias, name]),
  ),
)

/**
 * The one name of a category that has several: `browser` for `Browser Automation` and
 * `browser-automation`. A name that it is not known is only written as names are: `my-tools`.
 */
export function canonicalCategory(name: string): string {
  const known = canonicalNames.get(name)
  if (known !== undefined) return known
  const slug = categorySlug(name)
  // `GitHub` is one word in spite of its capital.
  const plain = categorySlug(name.toLowerCase())
  return canonicalNames.get(slug) ?? canonicalNames.get(plain) ?? slug
}

/** Lowercase letters and digits of any script, joined by single hyphens; at most 64 characters. */
export function categorySlug(name: string): string {
  // A name that is one already needs none of the patterns that know Unicode, which compile slowly.
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && name.length <= 64) return name
  const words = name
    .slice(0, 256)
    .normalize('NFKC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1-$2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  const slug = (words ?? []).join('-')
  return Array.from(slug).slice(0, 64).join('').replace(/-$/, '')
}
