import { readRegularFile } from '../base/index.ts'
import { type AgentCli, type AgentWishes } from './agent-clis.ts'
import { capturedText } from './capture.ts'
import { failedOutput, type StepOutput } from './model.ts'
import { readAgentOutput } from './output-protocol.ts'
import { runProcess } from './process.ts'
import { isCommandFile, shimTarget } from './windows-shim.ts'

export interface AgentRequest {
  client: AgentCli
  /** Where its program lies. */
  program: string
  wishes: AgentWishes
  prompt: string
  /** The working directory: the project. */
  cwd: string
  /** Everything that the client gets of our environment. */
  environment: Readonly<Record<string, string>>
  /** Bytes kept of each stream. */
  outputLimit: number
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface AgentResult {
  output: StepOutput
  stdout: string
  stderr: string
}

/**
 * Asks an agent's command line once, headless, in a process group of its own, and reads the output
 * block of its answer. An answer without one is a failure `output-missing`. Never throws.
 */
export async function runAgent(request: AgentRequest): Promise<AgentResult> {
  const { client, wishes } = request
  const started = startOf(request.program)
  if (started === undefined) return cannotStart(request)
  const result = await runProcess({
    file: started.file,
    args: [...started.args, ...client.args(wishes)],
    cwd: request.cwd,
    env: request.environment,
    stdin: request.prompt,
    outputLimit: request.outputLimit,
    signal: request.signal,
    onOutput: request.onOutput,
  })
  return {
    output: readAgentOutput(result, client.title),
    stdout: capturedText(result.stdout),
    stderr: capturedText(result.stderr),
  }
}

/** How the program is started: itself, or what a command file of Windows would start. */
function startOf(program: string): { file: string; args: readonly string[] } | undefined {
  if (process.platform !== 'win32' || !isCommandFile(program)) return { file: program, args: [] }
  const reading = readRegularFile(program, { maxBytes: 65_536 })
  return reading.ok ? shimTarget(program, reading.text, process.execPath) : undefined
}

function cannotStart({ program, client }: AgentRequest): AgentResult {
  const message = `${client.title} could not be started: ${program} is no command file as npm or pnpm write it; install it with ${client.install}`
  return { output: failedOutput('not-started', message), stdout: '', stderr: '' }
}
