import { statSync } from 'node:fs'

/** Tells whether one of the files changed, appeared or went: then this is another text. */
export function fileIdentity(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const stats = statSync(path, { throwIfNoEntry: false })
      if (stats === undefined) return '-'
      const { dev, ino, size, mtimeMs, ctimeMs } = stats
      return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
    })
    .join('\n')
}
