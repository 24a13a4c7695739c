import { basename, dirname, resolve } from 'node:path'
import { programName, readShellCommands, type ShellWord } from '#core/shell-commands'
import { loadConfiguration } from '#core/configuration'
import { isObject, parseJson } from '#core/json'
import { realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { ChainSkill, RailEvent } from '#hooks/rail-hook'
import { isStartTool } from './place.ts'

/** What a call of the agent that starts a chain asks for. */
export type StartCall =
  | { kind: 'start'; skill: string; words: readonly string[]; requireVerified: boolean }
  /** It starts a chain in a way that a rail cannot take over: the message says how it has to be written. */
  | { kind: 'unclear'; message: string }

/** Reads a tool call that starts a chain: `skillrail chain start`, or the MCP tool `chain_start`. */
export function readStartCall({
  call,
  tool,
  toolInput,
}: RailEvent['payload']): StartCall | undefined {
  if (call?.kind === 'shell') return readLine(call.command)
  return call === undefined && isStartTool(tool) ? readInput(parseJson(toolInput)) : undefined
}

function readInput(input: unknown): StartCall | undefined {
  if (!isObject(input)) return undefined
  const { skill, arguments: words = [], require_verified: requireVerified = false } = input
  if (typeof skill !== 'string' || !Array.isArray(words)) return undefined
  const texts = words.filter((word) => typeof word === 'string')
  return { kind: 'start', skill, words: texts, requireVerified: requireVerified === true }
}

const alone: StartCall = {
  kind: 'unclear',
  message:
    'In this session a chain starts as a rail. Run `skillrail chain start NAME` as a command of its own, without variables, pipes and other commands.',
}

function readLine(line: string): StartCall | undefined {
  const { commands } = readShellCommands(line)
  if (!commands.some(({ words }) => startArguments(words))) return undefined
  // The words after `--` count as a command of another one.
  const [command, ...others] = commands.filter(({ wrappers }) => wrappers.length === 0)
  const args = command && startArguments(command.words)
  if (!args || others.length > 0 || command.assignments.length > 0) return alone
  if (!command.words.every(({ isConstant }) => isConstant)) return alone
  return args[0] === 'chain' ? readArguments(args.slice(2)) : alone
}

/** Returns the arguments of `skillrail` or `npx skillrail`, if they start a chain. */
function startArguments(words: readonly ShellWord[]): string[] | undefined {
  const first = programName(words[0]) === 'npx' ? words.findIndex(isNoOption) : 0
  if (programName(words[first]) !== 'skillrail') return undefined
  const args = words.slice(first + 1).map(({ text }) => text)
  const isStart = args.some((word, at) => word === 'chain' && args[at + 1] === 'start')
  return isStart && !args.some((word) => word === '--help' || word === '-h') ? args : undefined
}

/** Whether a word after `npx` is the program. */
function isNoOption({ text }: ShellWord, at: number): boolean {
  return at > 0 && !text.startsWith('-')
}

/** Options about the output of a command have no meaning for a rail. */
const withoutMeaning: ReadonlySet<string> = new Set(['--json', '-q', '--quiet', '-v', '--verbose'])

function readArguments(args: readonly string[]): StartCall | undefined {
  const end = args.indexOf('--')
  const [free, literal] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)]
  const options = free.filter((word) => word.startsWith('-') && !withoutMeaning.has(word))
  const [skill, ...words] = [...free.filter((word) => !word.startsWith('-')), ...literal]
  if (skill === undefined) return undefined
  const wrong = options.find((option) => option !== '--require-verified')
  if (wrong !== undefined) {
    const message = `In this session a chain starts as a rail, where \`${wrong}\` has no effect. Only --require-verified is possible.`
    return { kind: 'unclear', message }
  }
  return { kind: 'start', skill, words, requireVerified: options.length > 0 }
}

/** Whether the user wants no rails. A broken settings file is reported by the rest of the hook. */
export function isOff(runtime: Runtime): boolean {
  try {
    return loadConfiguration(runtime).settings.rail.start === 'never'
  } catch {
    return true
  }
}

/** Returns the installed chain that a call names, by its name or its folder. */
export async function chainToStart(
  { chainNamed, runtime }: Pick<RailEvent, 'chainNamed' | 'runtime'>,
  skill: string,
): Promise<ChainSkill | undefined> {
  const isPath = /[/\\]/.test(skill)
  if (!isPath) return await chainNamed(skill)
  const path = resolve(runtime.cwd, skill)
  const folder = basename(path) === 'SKILL.md' ? dirname(path) : path
  const chain = await chainNamed(basename(folder))
  const isSame = chain && realPathOf(dirname(chain.path)) === realPathOf(folder)
  return isSame ? chain : undefined
}
