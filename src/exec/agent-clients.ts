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
  /** Headless, with the client's own permissions: no flag here raises them. */
  args(wishes: AgentWishes): readonly string[]
  /** Which requests of a skill `args` passes on; the others have no equal in this client. */
  honours: readonly SkillRequest[]
  /** Beginnings of the variables that hold its sign-in and its settings. */
  variables: readonly string[]
}

/** Tried with the versions that the client tests install. */
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

/** Variables that any program with a network connection needs to find its way. */
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

/** Asks an agent's command line once, headless, and reads the output block of its answer. */
export async function runAgent(request: AgentRequest) {
  const { client, program, wishes, prompt, environment, ...process } = request
  const started = startOf(program)
  if (!started) {
    const message = `${client.title} could not be started: ${program} is not a command file as npm or pnpm write it; install it with ${client.install}`
    return { output: failedOutput('not-started', message), stdout: '', stderr: '' }
  }
  const result = await runProcess({
    ...process,
    file: started.file,
    args: [...started.args, ...client.args(wishes)],
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
 * What a command file of Windows would start, as npm and pnpm write them; undefined for one of another
 * form. Node does not start such a file without a shell (since CVE-2024-27980), and a shell would read
 * the arguments a second time.
 * @param node takes the place of the one that the file would look for.
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
  // Without an extension it is a script, whose first line npm has turned into the call of Node.
  const isScript = extension === '' && /\bnode(\.exe)?"/i.test(text)
  return isScript || ['.js', '.mjs', '.cjs'].includes(extension)
    ? { file: node, args: [target] }
    : undefined
}

/** A path from the file's own directory, in quotation marks, last before all arguments. */
const invocation = /"%(?:~dp0|dp0%)\\?([^"]+)"[ \t]+%\*[ \t]*(?:\)[ \t]*)?$/

export function isCommandFile(path: string): boolean {
  return /\.(cmd|bat)$/i.test(path)
}

/**
 * The whole prompt of a step for an agent's command line or a model. Nothing is left to it to find.
 * The example of the answer stands behind bars, so that an echo of the prompt is never taken for it.
 */
export function agentPrompt(facts: {
  content: string
  references: string
  step: string
  state: string
  /** How the report is given: as a block in the answer (default), or by a schema. */
  report?: 'block' | 'schema' | undefined
}): string {
  const { content, references, step, state, report = 'block' } = facts
  const parts = [
    `You carry out one step of a chain of skills: ${step}. These are its instructions.`,
    content,
    ...(references === '' ? [] : [`These references belong to them:\n\n${references.trimEnd()}`]),
    statePart(state),
    report === 'block' ? `${task} ${blockForm}` : `${task} ${schemaForm}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** What is said of `chain_state`, given as JSON. Nothing that a step left ends the block. */
export function statePart(state: string): string {
  const kept = state.replaceAll('</', String.raw`<\/`)
  return `What the steps before it left, as JSON:\n\n<chain_state>\n${kept}\n</chain_state>`
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
