import { packagedProgram, programWord } from '#core/packaged-program'
import type { Runtime } from '#core/runtime'
import { commands } from './registry.ts'

const firstWords = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))]

/** A command of ours in a text: at a line's start, after a blank or a backtick. */
const commandLine = new RegExp(
  `(?<=^|[\\s\`(])(?<!npx )skillrail (?=(?:${firstWords.join('|')})\\b)`,
  'gm',
)

/**
 * Writes the commands in a text so that they work where the user is: `npx skillrail` and `npm run` find the
 * program of a project, and the shell does not. The command line of a client's package has its path, unless the search
 * path has another.
 */
export function asCalled(text: string, env: Runtime['env']): string {
  const program = programOf(env)
  return program === 'skillrail' ? text : text.replaceAll(commandLine, () => `${program} `)
}

/** npm says how it was called, to the programs that it starts. */
function programOf(env: Runtime['env']): string {
  const isScript = env['npm_command'] === 'run-script' || env['npm_command'] === 'run'
  if (isScript && env['npm_lifecycle_event'] === 'skillrail') return 'npm run -s skillrail --'
  if (env['npm_command'] !== undefined) return 'npx skillrail'
  const own = packagedProgram()
  if (own === undefined) return 'skillrail'
  const search = { env, platform: process.platform, cwd: process.cwd() }
  return programWord(search, own) ?? 'skillrail'
}
