import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { runHook } from '../../src/hooks/run-hook.ts'
import type { Patience } from '../../src/rail/events.ts'
import { createRailHook } from '../../src/rail/hook-rail.ts'
import type { Sender } from '../../src/rail/sender.ts'
import { readRails } from '../../src/rail/session.ts'
import { answerRequest } from '../../src/rail/work.ts'
import { fromSources } from '../command-line.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

/** Rails work in processes of their own. From the build, one starts in a fifth of the time. */
export const patient: Patience = {
  prompt: 60_000,
  turnEnd: 60_000,
  program: fromSources ? undefined : join(import.meta.dirname, '../../dist/hook/rail.cjs'),
}

/** Rails work in the process of the test, and events wait for them. */
const inThisProcess: Patience = {
  prompt: 60_000,
  turnEnd: 60_000,
  program: async (request, runtime) => {
    const { signal } = new AbortController()
    return await answerRequest(request, runtime, { signal, isLate: () => false })
  },
}

/** The process of the client in which the session began. */
export const firstProcess = { pid: 1000, startedAt: 'morning' }

/** The output of the hook, read as JSON; undefined without output. */
export interface HookJson {
  /** Of clients with answers in a flat form. */
  additionalContext?: string
  decision?: string
  reason?: string
  systemMessage?: string
  hookSpecificOutput?: {
    hookEventName?: string
    additionalContext?: string
    permissionDecision?: string
    permissionDecisionReason?: string
  }
}

export interface SkillText {
  metadata?: readonly string[]
  top?: readonly string[]
  run?: string
  verify?: string
  body?: string
}

/**
 * A trusted project with skills, and one session of an agent client in it.
 *
 * @param patience default: rails work in this process. What is about waiting for their process, or about
 *   its end, needs {@link patient}
 */
export function makeSession(
  skills: Readonly<Record<string, SkillText>>,
  client: Platform = 'claude',
  patience = inThisProcess,
) {
  let sender: Sender = { kind: 'client', process: firstProcess }
  let atTerminal = true
  /** Processes of the client that have ended. */
  const ended = new Set<number>()
  const railHook = createRailHook(patience, {
    senderOf: () => sender,
    isRunning: ({ pid }) => !ended.has(pid),
    hasTerminal: () => atTerminal,
  })
  let platform = client
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-rail-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
  const [home, directory] = [join(base, 'home'), join(base, 'project')]
  mkdirSync(home)
  mkdirSync(directory)
  execFileSync('git', ['init', '-q', directory])
  const write = (path: string, text: string, mode = 0o644): void => {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
  }
  for (const [name, skill] of Object.entries(skills)) writeSkill(write, name, skill)
  const env = {
    HOME: home,
    PATH: process.env['PATH'],
    SKILLRAIL_WORKSPACE_TRUST: 'trusted',
  }
  let calls = 0
  let session = 's1'
  let turn = 't1'

  const transcript = join(base, 'transcript.jsonl')
  /** Claude Code writes it after the event of the prompt. */
  function noteOrigin(turnOrigin: string, promptId: string): void {
    const row = { type: 'user', promptId, turnOrigin }
    appendFileSync(transcript, `${JSON.stringify(row)}\n`)
  }

  async function send(payload: Readonly<Record<string, unknown>>): Promise<HookJson | undefined> {
    const about = { session_id: session, cwd: directory, transcript_path: transcript }
    return await sendText(JSON.stringify({ ...about, ...payload }))
  }

  async function sendText(input: string): Promise<HookJson | undefined> {
    const runtime = systemRuntime({ cwd: directory, home, env })
    const part = { number: 1, of: 1 }
    const { stdout } = await runHook({ platform, part, input, runtime, rail: railHook })
    return stdout === '' ? undefined : JSON.parse(stdout)
  }
  return {
    directory,
    home,
    env,
    write,
    send,
    sendText,
    noteOrigin,
    /** The state of the only rail. */
    standing(): string {
      const [reading] = readRails(systemRuntime({ cwd: directory, home, env }))
      return reading?.kind === 'rail' ? reading.rail.standing : ''
    },
    standingReason(): string {
      const [reading] = readRails(systemRuntime({ cwd: directory, home, env }))
      return reading?.kind === 'rail' ? reading.rail.reason : ''
    },
    remove(path: string): void {
      rmSync(join(directory, path), { recursive: true })
    },
    as(other: Platform): void {
      platform = other
    },
    /** Runs a command line with the variables of the agent. */
    async cli(...args: readonly string[]): Promise<CliResult> {
      return await runInProcess(args, { cwd: directory, home, env })
    },
    /** The run of the one rail. */
    runId(): string {
      const [reading] = readRails(systemRuntime({ cwd: directory, home, env }))
      return reading?.kind === 'rail' ? reading.rail.runId : ''
    },
    use(id: string): void {
      session = id
    },
    read: (path: string): string => readFileSync(join(directory, path), 'utf8'),
    /** The next events come from another process, or from an unknown one. */
    sendAs(other: Sender): void {
      sender = other
    },
    withoutTerminal(): void {
      atTerminal = false
    },
    /** The approvers in the journals. */
    approvals(): Readonly<Record<string, unknown>>[] {
      const state = join(home, '.local/state/skillrail')
      const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
      return files
        .filter((file) => /runs\/[^/]+\.jsonl$/.test(file))
        .flatMap((file) => readFileSync(join(state, file), 'utf8').split('\n'))
        .flatMap((line) => (line.includes('"type":"approval"') ? [JSON.parse(line)] : []))
    },
    end(pid: number): void {
      ended.add(pid)
    },
    /**
     * Types a prompt. Where the client confirms later who typed it, the agent ends its turn without a
     * call, and the answer is what both events gave it.
     */
    async prompt(
      text: string,
      { origin = 'human', more = {} }: { origin?: string; more?: object } = {},
    ): Promise<HookJson | undefined> {
      turn = `t${calls++}`
      const event = { hook_event_name: 'UserPromptSubmit', prompt_id: turn, prompt: text, ...more }
      const answer = await send(event)
      noteOrigin(origin, turn)
      const context = answer?.hookSpecificOutput?.additionalContext ?? ''
      if (!context.includes('confirms that when your turn ends')) return answer
      const confirmed = await this.stop('Done.')
      const additionalContext = confirmed?.reason ?? ''
      return { ...confirmed, hookSpecificOutput: { additionalContext } }
    },
    /** Asks whether a tool may run, and returns the reason if not. */
    async call(tool: string, input: object, more: object = {}): Promise<string | undefined> {
      const id = `c${calls++}`
      const about = { tool_name: tool, tool_input: input, tool_use_id: id, ...more }
      const before = await send({ hook_event_name: 'PreToolUse', ...about })
      const output = before?.hookSpecificOutput
      if (output?.permissionDecision === 'deny') return output.permissionDecisionReason ?? ''
      await send({ hook_event_name: 'PostToolUse', ...about })
      return undefined
    },
    bash(command: string): Promise<string | undefined> {
      return this.call('Bash', { command })
    },
    async stop(message = 'Done.', more: object = {}): Promise<HookJson | undefined> {
      const event = { hook_event_name: 'Stop', last_assistant_message: message, prompt_id: turn }
      return await send({ ...event, ...more })
    },
  }
}

function writeSkill(
  write: (path: string, text: string, mode?: number) => void,
  name: string,
  { metadata = [], top = [], run, verify, body }: SkillText,
): void {
  const lines = metadata.length === 0 ? [] : ['metadata:', ...metadata.map((line) => `  ${line}`)]
  const head = [`name: ${name}`, `description: Does ${name}. Use when asked.`, ...top, ...lines]
  const folder = `.claude/skills/${name}`
  write(`${folder}/SKILL.md`, `---\n${head.join('\n')}\n---\n${body ?? `Do ${name}.`}\n`)
  if (run !== undefined) write(`${folder}/scripts/run.sh`, `#!/bin/sh\n${run}\n`, 0o755)
  if (verify !== undefined) write(`${folder}/scripts/verify.sh`, `#!/bin/sh\n${verify}\n`, 0o755)
}
