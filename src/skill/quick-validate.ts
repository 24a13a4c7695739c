// The source of skills/creating-skills/scripts/quick_validate.mjs: `npm run generate` makes one file of it
// that needs nothing but Node.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { safeLine } from '#core/text'
import { validateSkill } from './validate.ts'

process.exitCode = main(process.argv.slice(2))

/** Returns 0 if all skills are valid, 1 if one is not, and 2 for wrong usage. */
function main(paths: readonly string[]): number {
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined || paths.length === 0) {
    const problem = missing === undefined ? '' : `${missing} does not exist\n`
    process.stderr.write(`${problem}Usage: node quick_validate.mjs DIRECTORY…\n`)
    return 2
  }
  const verdicts = paths.map((path) => printVerdict(path))
  return verdicts.every(Boolean) ? 0 : 1
}

function printVerdict(path: string): boolean {
  const print = (line: string) => process.stdout.write(`${safeLine(`${path}: ${line}`)}\n`)
  const file = skillFile(path)
  if (file === undefined) {
    print('error: it has no SKILL.md')
    return false
  }
  const directoryName = basename(dirname(resolve(file)))
  const { valid, diagnostics } = validateSkill(readFileSync(file), { path: file, directoryName })
  if (valid) print('valid')
  for (const one of diagnostics) {
    if (one.severity !== 'info') print(sentence(one))
  }
  return valid
}

function sentence({ severity, line, message, hint }: Diagnostic): string {
  const place = line === undefined ? '' : ` in line ${line}`
  return `${severity}${place}: ${message}${hint === undefined ? '' : ` ${hint}`}`
}

function skillFile(path: string): string | undefined {
  const candidates = statSync(path).isDirectory()
    ? ['SKILL.md', 'skill.md'].map((name) => join(path, name))
    : [path]
  return candidates.find((file) => existsSync(file) && statSync(file).isFile())
}
