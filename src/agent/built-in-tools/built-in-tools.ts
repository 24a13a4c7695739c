import type { Runtime } from '#core/runtime'
import { didYouMean } from '#core/text'
import { findProgram, type ProgramSearch, windowsProgram } from '#core/find-program'
import { capturedText, childEnvironment, type ProcessResult, runProcess } from '#exec/process'
import { usageError } from '#agent/errors'
import { FailedResult } from '#agent/failed-result'
import { objectSchema } from '#agent/tool'
import type { AgentTool } from '#agent/types'
import { fileTools } from './files.ts'
import { numberOf, pathTool, textOf, type Workspace } from './paths.ts'

export interface BuiltInToolOptions extends Workspace {
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment?: readonly string[] | undefined
}

/** Creates the built-in tools with these names or aliases, such as `read` and `Bash`, or `all`. */
export function createBuiltInTools(
  names: readonly string[],
  { runtime, environment = [], ...workspace }: BuiltInToolOptions,
): AgentTool[] {
  const tools = [
    ...fileTools.map((definition) => pathTool(workspace, definition)),
    shellTool(workspace.project, runtime, environment),
  ]
  const selectedTools = names.flatMap((name) =>
    name === 'all' ? tools : builtInNamed(name, tools),
  )
  return tools.filter((tool) => selectedTools.includes(tool))
}

/** @throws {AgentUsageError} for a name that no built-in tool has. */
export function requireBuiltIns(names: readonly string[]): void {
  createBuiltInTools(names, noProject)
}

/** Returns all built-in tools, to compare their names. They belong to no project. */
export function allBuiltIns(): readonly AgentTool[] {
  return createBuiltInTools(['all'], noProject)
}

const noProject = { project: '', runtime: { env: {}, platform: process.platform } }

function builtInNamed(name: string, tools: readonly AgentTool[]): AgentTool {
  const namesOf = (tool: AgentTool) =>
    [tool.name, ...(tool.aliases ?? [])].map((text) => text.toLowerCase())
  const builtIn = tools.find((tool) => namesOf(tool).includes(name.toLowerCase()))
  if (builtIn) return builtIn
  const guess = didYouMean(name.toLowerCase(), tools.flatMap(namesOf))
  const message = `There is no built-in tool called ${name}. ${guess}`.trim()
  const allNames = tools.map((tool) => tool.name).join(', ')
  throw usageError('tool-unknown', message, `The built-in tools are ${allNames}.`)
}

const defaultTimeoutMs = 120_000
const outputLimit = 131_072

const timeout = `Milliseconds; default ${defaultTimeoutMs}.`
const parameters = {
  command: { type: 'string', minLength: 1 },
  timeout: { type: 'integer', minimum: 1, maximum: 600_000, description: timeout },
  description: { type: 'string', description: 'What it does, in a few words.' },
}

function shellTool(
  project: string,
  runtime: Pick<Runtime, 'env' | 'platform'>,
  environment: readonly string[],
): AgentTool {
  return {
    name: 'shell',
    aliases: ['Bash'],
    description:
      'Runs a command in a shell, in the project directory, with a clean environment. Every call is ' +
      'a new shell. Nothing can be typed into it.',
    inputSchema: objectSchema(parameters, ['command']),
    readOnly: false,
    origin: { kind: 'built-in' },
    patternText: (input) => textOf(input, 'command'),
    patternKind: 'command',
    effect: (input) => `runs in ${project}:\n${textOf(input, 'command')}`,
    async execute(input, { signal }) {
      const env = childEnvironment(runtime, environment, { NO_COLOR: '1', TERM: 'dumb' })
      const timeoutMs = numberOf(input, 'timeout', defaultTimeoutMs)
      const result = await runProcess({
        ...shellOf(textOf(input, 'command'), { env, platform: runtime.platform, cwd: project }),
        cwd: project,
        env,
        timeoutMs,
        outputLimit,
        signal,
      })
      const text = resultText(result, timeoutMs)
      const isSuccess = result.end.kind === 'exit' && result.end.code === 0
      return isSuccess ? text : new FailedResult(text)
    },
  }
}

/** Returns the program that runs a command line. The shell reads no start-up file. */
export function shellOf(
  command: string,
  { env, platform, cwd }: ProgramSearch,
): { file: string; args: readonly string[] } {
  if (platform === 'win32') {
    return { file: windowsProgram('cmd.exe', { env, cwd }), args: ['/d', '/s', '/c', command] }
  }
  const bash = findProgram('bash', { env, platform, cwd })
  return bash === undefined
    ? { file: '/bin/sh', args: ['-c', command] }
    : { file: bash, args: ['--noprofile', '--norc', '-c', command] }
}

/** @throws {AgentUsageError} for a command that was stopped or could not be started. */
function resultText({ end, stdout, stderr }: ProcessResult, timeoutMs: number): string {
  const errors = capturedText(stderr).trimEnd()
  const texts = [capturedText(stdout).trimEnd(), errors && `[standard error]\n${errors}`]
  const output = texts.filter((text) => text !== '').join('\n')
  if (end.kind === 'exit' && end.code === 0) return output || '(no output)'
  if (end.kind === 'exit') return `${output}\n[exit code ${end.code}]`.trimStart()
  if (end.kind === 'signal') return `${output}\n[ended by signal ${end.signal}]`.trimStart()
  let problem = 'was stopped'
  if (end.kind === 'timeout') problem = `did not end within ${timeoutMs} ms and was stopped`
  else if (end.kind !== 'aborted') problem = `could not be run: ${end.message}`
  throw usageError('shell-failed', `The command ${problem}.\n${output}`.trimEnd())
}
