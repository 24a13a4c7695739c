import { sections } from './rows.ts'

/** Test files that a row names. */
export function filesWithRows(): string[] {
  const files = sections.flatMap(({ rows }) => rows.flatMap(({ tests = {} }) => Object.keys(tests)))
  return [...new Set(files)]
}

/** Every test that a row names, by its title or that of a block around it. */
export function titlesWithRows(): RegExp {
  const titles = sections.flatMap(({ rows }) =>
    rows.flatMap(({ tests = {} }) => Object.values(tests).flat()),
  )
  return new RegExp(`(?:^| )(?:${[...new Set(titles)].map(titlePattern).join('|')})(?: |$)`)
}

/** A title as a regular expression; `%s` and its kind stand for the values of a table of tests. */
export function titlePattern(title: string): string {
  return title
    .split(/%[sdifjoO#]/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('.*')
}
