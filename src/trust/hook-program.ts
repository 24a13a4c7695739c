import { isAbsolute } from 'node:path'
import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'

/** The program of a hook as a path in its skill; whether it is there was not looked at. */
export interface HookProgram {
  /** Relative to the directory of the skill, with `/`. */
  path: string
  /** The command behind it. */
  rest: string
}

/**
 * The path with which the command of a hook begins: a relative one, or one below the variable that
 * holds the skill's directory. Undefined for a plain program, an absolute path, and any other line for
 * the shell.
 */
export function hookProgram(command: string): HookProgram | undefined {
  const line = command.trimStart()
  const below = belowSkill.exec(line)
  const way = below?.slice(1).find((one) => one !== undefined)
  const path = way?.replace(/^\/+/, '') ?? relativePath(line)
  if (path === undefined) return undefined
  return { path, rest: line.slice(below?.[0].length ?? path.length) }
}

/** All commands in the field `hooks`, in whatever shape it is. */
export function hookCommands(hooks: JsonValue | undefined): string[] {
  const found: string[] = []
  const left = hooks === undefined ? [] : [hooks]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (Array.isArray(value)) for (const one of value) left.push(one)
    else if (isObject<JsonValue>(value)) {
      const { command } = value
      if (typeof command === 'string') found.push(command)
      for (const one of Object.values(value)) left.push(one)
    }
  }
  return found
}

/** Characters that mean nothing to a shell, and what may stand behind a word of them. */
const word = '[^\\s"\'`$\\\\;&|<>()*?\\[\\]{}=]+'
const end = '(?=[\\s;&|<>)]|$)'

const firstWord = new RegExp(`^${word}${end}`)

const name = '(?:CLAUDE|SKILLRAIL)_SKILL_DIR'
const variable = `\\$(?:${name}|\\{${name}\\})`

/** `$NAME/path`, `"$NAME"/path` and `"$NAME/path"`, where the path may have spaces. */
const belowSkill = new RegExp(
  `^(?:${variable}/(${word})|"${variable}"/(${word})|"${variable}/([^"$\`\\\\]+)")${end}`,
)

function relativePath(line: string): string | undefined {
  const first = firstWord.exec(line)?.[0]
  if (first === undefined || !first.includes('/')) return undefined
  // A shell reads `~/bin/lint` as a path of the home.
  return isAbsolute(first) || /^(?:~|[A-Za-z]:)/.test(first) ? undefined : first
}
