import { isAbsolute } from 'node:path'

export interface HookProgram {
  /** Relative to the skill's directory. */
  path: string
  /** The rest of the command line. */
  rest: string
}

/**
 * Returns the file of the skill that a hook's command starts with: a relative path, or a path below the
 * variable with the skill's directory. Undefined for a plain program, an absolute path, and any other
 * shell line. Does not check whether the file exists.
 */
export function hookProgram(command: string): HookProgram | undefined {
  const line = command.trimStart()
  const match = belowSkill.exec(line)
  const group = match?.slice(1).find((text) => text !== undefined)
  const path = group?.replace(/^\/+/, '') ?? relativePath(line)
  if (path === undefined) return undefined
  return { path, rest: line.slice(match?.[0].length ?? path.length) }
}

/** A word without characters that a shell interprets, and what can follow such a word. */
const word = '[^\\s"\'`$\\\\;&|<>()*?\\[\\]{}=]+'
const end = '(?=[\\s;&|<>)]|$)'

const firstWord = new RegExp(`^${word}${end}`)

const name = '(?:CLAUDE|SKILLRAIL)_SKILL_DIR'
const variable = `\\$(?:${name}|\\{${name}\\})`

/** `$NAME/path`, `"$NAME"/path` and `"$NAME/path"`; only the last path can contain spaces. */
const belowSkill = new RegExp(
  `^(?:${variable}/(${word})|"${variable}"/(${word})|"${variable}/([^"$\`\\\\]+)")${end}`,
)

function relativePath(line: string): string | undefined {
  const [first = ''] = firstWord.exec(line) ?? []
  // A shell reads `~/bin/lint` as a path in the home directory.
  const isElsewhere = isAbsolute(first) || /^(?:~|[A-Za-z]:)/.test(first)
  return first.includes('/') && !isElsewhere ? first : undefined
}
