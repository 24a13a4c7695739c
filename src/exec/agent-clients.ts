import { win32 } from 'node:path'
import { readRegularFile } from '#core/read-files'
import { formatAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import { failedOutput, readAgentOutput } from './output-protocol.ts'
import { capturedText, type ProcessRequest, runProcess } from './process.ts'

export const skillRequests = ['allowed-tools', 'model', 'agent', 'hooks'] as const
export type SkillRequest = (typeof skillRequests)[number]

export interface AgentWishes {
  allowedTools: readonly AllowedTool[]
  model: string | undefined
}

export interface AgentCli {
  title: string
  program: string
  install: string
  /** The arguments of a headless start. The client keeps its permissions: no flag here raises them. */
  args(wishes: AgentWishes): readonly string[]
  /** The requests of a skill that `args` passes on; this client has no option for the others. */
  honours: readonly SkillRequest[]
  /** The prefixes of the variables with the client's sign-in and settings. */
  variables: readonly string[]
}

/** These options work in the versions that the client tests install. */
export const agentClis = {
  claude: {
    title: 'Claude Code',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    args: ({ allowedTools, model }) => [
      '-p',
      '--output-format',
      'text',
      ...(allowedTools.length === 0
        ? []
        : ['--allowedTools', allowedTools.map((tool) => formatAllowedTools([tool])).join(',')]),
      ...(model === undefined ? [] : ['--model', model]),
    ],
    honours: ['allowed-tools', 'model'],
    variables: ['ANTHROPIC_', 'CLAUDE_', 'DISABLE_', 'AWS_', 'GOOGLE_', 'CLOUD_ML_'],
  },
  codex: {
    title: 'Codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    args: () => ['exec', '-'],
    honours: [],
    variables: ['OPENAI_', 'CODEX_'],
  },
  gemini: {
    title: 'Gemini CLI',
    program: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    args: () => ['--output-format', 'text'],
    honours: [],
    variables: ['GEMINI_', 'GOOGLE_'],
  },
  opencode: {
    title: 'OpenCode',
    program: 'opencode',
    install: 'npm install -g opencode-ai',
    args: () => ['run'],
    honours: [],
    variables: ['OPENCODE_', 'ANTHROPIC_', 'OPENAI_', 'GEMINI_', 'GOOGLE_', 'OPENROUTER_', 'AWS_'],
  },
  copilot: {
    title: 'Copilot CLI',
    program: 'copilot',
    install: 'npm install -g @github/copilot',
    args: () => ['--silent'],
    honours: [],
    variables: ['COPILOT_', 'GH_', 'GITHUB_TOKEN'],
  },
  qwen: {
    title: 'Qwen Code',
    program: 'qwen',
    install: 'npm install -g @qwen-code/qwen-code',
    args: () => ['--output-format', 'text'],
    honours: [],
    variables: ['QWEN_', 'DASHSCOPE_', 'OPENAI_'],
  },
} as const satisfies Record<string, AgentCli>

export type AgentCliName = keyof typeof agentClis

export function isAgentCli(name: string): name is AgentCliName {
  return Object.hasOwn(agentClis, name)
}

/** Variables that any program with a network connection needs. */
export const networkVariables: readonly string[] =
  'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME'.split(
    ' ',
  )

interface AgentRequest extends Pick<ProcessRequest, 'cwd' | 'outputLimit' | 'signal' | 'onOutput'> {
  client: AgentCli
  program: string
  wishes: AgentWishes
  prompt: string
  environment: Readonly<Record<string, string>>
}

/** Runs an agent's command line once, headless, and reads the output block of its answer. */
export async function runAgent(request: AgentRequest) {
  const { client, program, wishes, prompt, environment, ...process } = request
  const startCommand = startOf(program)
  if (!startCommand) {
    const message = `${client.title} could not be started: ${program} is not a command file as npm or pnpm write it; install it with ${client.install}`
    return { output: failedOutput('not-started', message), stdout: '', stderr: '' }
  }
  const result = await runProcess({
    ...process,
    file: startCommand.file,
    args: [...startCommand.args, ...client.args(wishes)],
    env: environment,
    stdin: prompt,
  })
  return {
    output: readAgentOutput(result, client.title),
    stdout: capturedText(result.stdout),
    stderr: capturedText(result.stderr),
  }
}

function startOf(program: string): { file: string; args: readonly string[] } | undefined {
  if (process.platform !== 'win32' || !isCommandFile(program)) return { file: program, args: [] }
  const reading = readRegularFile(program, { maxBytes: 65_536 })
  return reading.ok ? shimTarget(program, reading.text, process.execPath) : undefined
}

/**
 * Returns the program that a Windows command file starts, if npm or pnpm wrote the file; undefined for
 * any other form. Node starts command files only with a shell (since CVE-2024-27980), and a shell would
 * parse the arguments a second time.
 * @param node replaces the Node that the file would look for.
 */
export function shimTarget(
  path: string,
  text: string,
  node: string,
): { file: string; args: readonly string[] } | undefined {
  const call = text
    .split(/\r?\n/)
    .flatMap((line) => invocation.exec(line)?.[1] ?? [])
    .at(-1)
  if (call === undefined || call.includes('%')) return undefined
  const target = win32.join(win32.dirname(path), call)
  const extension = win32.extname(target).toLowerCase()
  if (extension === '.exe') return { file: target, args: [] }
  // A target without an extension is a script: npm has turned its first line into a call of Node.
  const isScript = extension === '' && /\bnode(\.exe)?"/i.test(text)
  return isScript || ['.js', '.mjs', '.cjs'].includes(extension)
    ? { file: node, args: [target] }
    : undefined
}

/** A quoted path, relative to the file's directory, directly before all arguments. */
const invocation = /"%(?:~dp0|dp0%)\\?([^"]+)"[ \t]+%\*[ \t]*(?:\)[ \t]*)?$/

export function isCommandFile(path: string): boolean {
  return /\.(cmd|bat)$/i.test(path)
}

/**
 * Returns the prompt of a step for an agent's command line or a model. It contains everything that the
 * step needs. Each line of the example answer starts with a bar, so that an echo of the prompt is never
 * read as an answer.
 */
export function agentPrompt(facts: {
  content: string
  references: string
  step: string
  state: string
  /** Why a user rejected the earlier result. */
  feedback?: string | undefined
  /** The form of the report: a block in the answer (default), or JSON by a schema. */
  report?: 'block' | 'schema' | undefined
}): string {
  const { content, references, step, state, feedback, report = 'block' } = facts
  const parts = [
    `You carry out one step of a chain of skills: ${step}. These are its instructions.`,
    content,
    ...(references === '' ? [] : [`These references belong to them:\n\n${references.trimEnd()}`]),
    statePart(state),
    ...(feedback === undefined ? [] : [feedbackPart(feedback)]),
    report === 'block' ? `${task} ${blockForm}` : `${task} ${schemaForm}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** Returns the part of a prompt with `chain_state`. The output of a step cannot end the block. */
export function statePart(state: string): string {
  const safeState = state.replaceAll('</', String.raw`<\/`)
  return `What the steps before it left, as JSON:\n\n<chain_state>\n${safeState}\n</chain_state>`
}

/** Says in words that a step is done again; the state has the same reason as `feedback`. */
export function feedbackPart(feedback: string): string {
  return `A user rejected what was done before, and this step is done again. The reason: ${feedback}`
}

const task = 'Do this step and nothing of what may come after it. You cannot ask questions.'

const statuses = 'The status is success, failure or critical.'

const schemaForm = `When you are done, or cannot continue, report it as JSON. ${statuses} The result is one sentence that says what was done, or all of what was asked for. Give each thing that went wrong as one of the errors.`

const blockForm = `When you are done, or cannot continue, end your answer with a YAML block of this form, without the bars:

| output:
|   status: success
|   result: one sentence that says what was done
|   errors: []
|   metrics: {}

${statuses} Give each thing that went wrong as a line of errors. Without this block the step counts as failed.`
