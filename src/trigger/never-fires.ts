import { fitsText } from '#core/fits-text'
import { fitsMcpPattern, foldToolName, readMcpPattern } from '#core/mcp-names'
import { readShellCommands } from '#core/shell-commands'
import { didYouMean } from '#core/text'
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

/** The MCP servers that the configurations of clients name. */
export interface KnownServers {
  names: readonly string[]
  /** The tools of a server; undefined if it was never listed. */
  toolsOf(server: string): readonly string[] | undefined
}

/** Returns why no MCP tool can have a name that fits a pattern; undefined if one may. */
export function toolNeverFires(source: string): NeverReason | undefined {
  const { server = '', tool = '' } = readMcpPattern(source) ?? {}
  if (server !== '' && tool !== '' && /^[^\s(),|]+$/.test(source)) return undefined
  const message = `No MCP tool can match \`${source}\`.`
  const hint = commonTool.test(source)
    ? 'A trigger on the tools of the client itself has `command: PATTERN` or `paths: [GLOB]`.'
    : 'Write `mcp__SERVER__TOOL`; `*` stands for any characters, and one trigger has one name.'
  return { message, hint }
}

const commonTool = /^(?:bash|shell|edit|write|read|multiedit|notebookedit)\b/i

/** Returns what a pattern names that no client has; undefined if a server has it, or may have it. */
export function unknownTool(
  source: string,
  { names, toolsOf }: KnownServers,
): NeverReason | undefined {
  const pattern = readMcpPattern(source)
  if (!pattern) return undefined
  const { server } = pattern
  const fits = (name: string): boolean => fitsText(foldToolName(name), foldToolName(server))
  // A server's name may contain what separates it from the tool.
  const matches = names.filter((name) => fits(name) || source.startsWith(`mcp__${name}__`))
  if (matches.length === 0) {
    const message = `No configuration of a client has a server \`${server}\`, which \`${source}\` names.`
    const hint = didYouMean(server, names) || 'List the servers with: skillrail tools servers'
    return { message, hint }
  }
  const lists = matches.map((name) => ({ name, tools: toolsOf(name) }))
  const isFitting = lists.some(
    ({ name, tools }) =>
      tools === undefined || tools.some((tool) => fitsMcpPattern(`mcp__${name}__${tool}`, pattern)),
  )
  if (isFitting) return undefined
  const message = `No tool of ${matches.map((name) => `\`${name}\``).join(', ')} matches \`${source}\`, as of the last \`skillrail tools refresh\`.`
  const all = lists.flatMap(({ tools = [] }) => tools)
  const hint = didYouMean(pattern.tool, all) || 'List the tools with: skillrail tools list'
  return { message, hint }
}

/** Whether a pattern such as `git push` can also match the arguments of another program. */
export function isUnanchoredCommand({ source }: Pattern): boolean {
  return /^[\w./-]*\w [\w-]/.test(source) && !source.startsWith('-')
}
