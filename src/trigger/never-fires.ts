import { readShellCommands } from '#core/shell-commands'
import type { TriggerOccasion } from '#skill/model'
import { commandTexts, matchCommand } from './command-match.ts'
import { compilePattern, type Pattern, plainPattern } from './pattern.ts'
import type { ProjectFiles } from './project-files.ts'
import { globPattern } from './tool-call.ts'

export interface NeverReason {
  message: string
  hint: string
}

/** Returns the globs of a trigger that match no file of the project. */
export function unmatchedGlobs(
  { paths: globs }: TriggerOccasion & { kind: 'paths' },
  { root, paths }: ProjectFiles,
): NeverReason[] {
  const isMatched = (glob: string): boolean => {
    const reading = compilePattern(globPattern(glob))
    return !reading.ok || paths.some(reading.pattern.test)
  }
  return globs
    .filter((glob) => !isMatched(glob))
    .map((glob) => {
      const deeper = [`${glob}/`, glob.replace(/\/\*$/, '/')]
      const better = deeper.find((one) => one !== glob && isMatched(one))
      const suggestion = better ?? '**/*.ts'
      const hint = better
        ? `Write \`${suggestion}\` for every file below this folder.`
        : 'Globs are relative to the root of the project; `src/` means every file below `src`.'
      return { message: `No file of ${root} matches \`${glob}\`.`, hint }
    })
}

/** Returns why no shell line can match a pattern; undefined if one may. */
export function commandNeverFires(pattern: Pattern): NeverReason | undefined {
  const { source, required } = pattern
  const words =
    'A pattern sees one command: words with one blank between them, without quotes, comments and operators such as `&&` and `|`.'
  const never = (hint: string): NeverReason => ({
    message: `No command can match the pattern \`${source}\`.`,
    hint: `${words}${hint}`,
  })
  if (/^\^(?: |\\s|\[ \])(?![*?{])/.test(source)) return never(' It begins with the program.')
  if (!plainPattern(source)) {
    const isImpossible = (text: string) => /\s\s|(?:^|\s)(?:&&?|\|\|?|;)(?:\s|$)/.test(text)
    return required.some((texts) => texts.every(isImpossible)) ? never('') : undefined
  }
  const text = source.replace(/^\^/, '').replace(/\$$/, '')
  const before = source.startsWith('^') ? [''] : ['', 'x ']
  const behind = source.endsWith('$') ? [''] : ['', ' x', 'x']
  const lines = before.flatMap((head) => behind.map((tail) => `${head}${text}${tail}`))
  const readings = lines.map((line) => ({ line, reading: readShellCommands(line) }))
  const isMatched = readings.some(({ line, reading }) =>
    matchCommand(line, reading, pattern, false),
  )
  if (isMatched) return undefined
  const [commandText] = readings[0]?.reading.commands.flatMap(commandTexts) ?? []
  return never(
    commandText === undefined ? '' : ` For the command \`${text}\` it sees \`${commandText}\`.`,
  )
}

/** Whether a pattern such as `git push` can also match the arguments of another program. */
export function isUnanchoredCommand({ source }: Pattern): boolean {
  return /^[\w./-]*\w [\w-]/.test(source) && !source.startsWith('-')
}
