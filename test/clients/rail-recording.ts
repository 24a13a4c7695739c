import { chmodSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf, parseJson } from '../../src/core/json.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { installHook } from '../../src/hooks/install.ts'
import { tellBeginning } from '../../src/hooks/rail-hook.ts'
import { launcherPath } from '../../src/hooks/registration.ts'
import type { ModelToolCall, ModelTurn } from '../model-server/turn.ts'
import type { InstalledClient } from './cache.ts'
import type { ClientRecipe } from './clients.ts'
import type { TestHome } from './home.ts'
import { type LaterPrompt, railSession, type Script } from './rail-session.ts'

/** A line of a recording, and when it happened in nanoseconds. */
interface Moment {
  at: bigint
  text: string
}

/** Returns a session in a form that people read: what each side said, in order. */
export async function recordSession(
  platform: Platform,
  client: InstalledClient,
  recipe: ClientRecipe,
  script: Script,
  later: readonly LaterPrompt[],
): Promise<string> {
  const moments: Moment[] = []
  let home: TestHome | undefined
  const note = (text: string): void => {
    moments.push({ at: BigInt(Date.now()) * 1_000_000n, text })
  }
  const result = await railSession(platform, client, recipe, script, {
    later,
    async install(place) {
      const runtime = systemRuntime({ cwd: place.project, env: { HOME: place.home } })
      await installHook(runtime, platform, { scope: 'user' })
      keepAnswers(launcherPath(runtime))
    },
    onEvent(event) {
      if (event.kind === 'start') home = event.home
      if (event.kind === 'you') note(`you    ${event.prompt}`)
      if (event.kind === 'model') note(modelLines(event.turn))
      if (event.kind === 'end' && home) moments.push(...answersOf(home))
    },
  })
  const lines = moments
    .toSorted((one, other) => Number(one.at - other.at))
    .map(({ text }) => withoutPlaces(text, home))
  const steps = Object.entries(result.steps).map(([step, how]) => `${step}: ${how}`)
  return [...lines, `record ${steps.join('; ')}`].filter((line) => line !== '').join('\n')
}

function withoutPlaces(text: string, home: TestHome | undefined): string {
  return home ? text.replaceAll(home.project, '.').replaceAll(home.home, '~') : text
}

/** Replaces the launcher with a program that records the answers of the hook. */
function keepAnswers(launcher: string): void {
  renameSync(launcher, `${launcher}.real`)
  const text = `#!/bin/sh
mkdir -p "$HOME/answers"
name="$HOME/answers/$(date +%s%N)-$$"
"$0.real" "$@" > "$name"
cat "$name"
exit 0
`
  writeFileSync(launcher, text)
  chmodSync(launcher, 0o755)
}

function answersOf({ home }: TestHome): Moment[] {
  const directory = join(home, 'answers')
  return readdirSync(directory).map((name) => {
    const answer = objectOf(parseJson(readFileSync(join(directory, name), 'utf8')))
    return { at: BigInt(name.split('-')[0] ?? '0'), text: answerLines(answer) }
  })
}

function modelLines({ text, calls = [] }: ModelTurn): string {
  const agentLines = text === undefined ? [] : [`agent  "${text}"`]
  return [...agentLines, ...calls.map((call) => `agent  ${callText(call)}`)].join('\n')
}

/** The tool with the command or the file of the call. */
function callText({ name, input }: ModelToolCall): string {
  const values = typeof input === 'string' ? [input] : Object.values(input)
  return `${name}: ${values.filter((value) => typeof value === 'string')[0] ?? ''}`
    .split('\n')
    .join(' ')
    .trimEnd()
}

/** The answer of the hook, in the form of the client. */
function answerLines(answer: object): string {
  const fields: Record<string, unknown> = {
    ...answer,
    ...objectOf(Reflect.get(answer, 'hookSpecificOutput')),
  }
  const text = (key: string): string | undefined => {
    const value = fields[key]
    return typeof value === 'string' ? value : undefined
  }
  const isDenied = [fields['permissionDecision'], fields['decision']].includes('deny')
  const reason = text('permissionDecisionReason') ?? text('reason')
  const context = text('additionalContext')
  const told = text('systemMessage')
  const kind = isDenied ? 'denied' : 'kept going'
  const lines: string[] = []
  if (reason?.startsWith(tellBeginning)) {
    lines.push(line('told through the agent', reason.slice(tellBeginning.length)))
  } else if (reason !== undefined) lines.push(line(kind, reason))
  if (context !== undefined) lines.push(line('context', context))
  if (told !== undefined) lines.push(line('shown to you', told))
  return lines.join('\n')
}

const longest = 220

function line(kind: string, text: string): string {
  // A step begins with what happened before it and ends with its skill; the instruction is what counts.
  const [step] = /Do only this step now.*?(?=\n\n<|$)/s.exec(text) ?? []
  const short = (step ?? text).replaceAll(/\s+/g, ' ').trim()
  const shortened = short.length <= longest ? short : `${short.slice(0, longest).trimEnd()} …`
  return wrap(`→ ${kind}: ${shortened}`)
}

/** Lines of about a hundred characters, below the actions of the agent. */
function wrap(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length > 100) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((each, index) => `       ${index === 0 ? '' : '  '}${each}`).join('\n')
}
