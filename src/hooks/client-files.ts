import { type FileText, timeLimitSeconds } from './adapters.ts'

/** What is in a file that is ours alone, by the command that it calls. */
export const fileTexts = {
  'copilot-hooks': hooksText,
  'opencode-plugin': pluginText,
  'pi-extension': extensionText,
} as const satisfies Record<FileText, (command: string) => string>

/** A file of hooks that holds ours alone; Copilot CLI reads every file beside it too. */
export function hooksText(command: string): string {
  const started = command.startsWith('& ') ? command : `& ${command}`
  // A project's command is for POSIX shells; on Windows it is only taken note of.
  const powershell = command.startsWith('if ') ? '$input | Out-Null' : started
  const handler = { type: 'command', bash: command, powershell, timeoutSec: timeLimitSeconds }
  const file = { version: 1, hooks: { userPromptSubmitted: [handler] } }
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/**
 * `chat.message` sees the text that a command expanded to; what was typed is in the event before
 * it. A part without an id fails the run, and parts are sorted by id: ours is made from the last.
 */
function pluginText(command: string): string {
  return `// Written by skillrail hooks install; skillrail hooks uninstall takes it away.
import { spawn } from 'node:child_process'

${askLauncher(command, 'chat.message')}
export const Skillrail = async ({ directory }) => {
  const typed = new Map()
  return {
    'command.execute.before': async (event) => {
      typed.set(event.sessionID, ('/' + event.command + ' ' + event.arguments).trim())
    },
    'chat.message': async (event, output) => {
      try {
        const written = output.parts
          .filter((part) => part.type === 'text' && !part.synthetic)
          .map((part) => part.text)
          .join('\\n')
        const prompt = typed.get(event.sessionID) ?? written
        typed.delete(event.sessionID)
        const context = await ask({
          prompt,
          cwd: directory,
          session_id: event.sessionID,
          turn_id: output.message.id,
        })
        const last = output.parts.at(-1)
        if (!context || last === undefined) return
        output.parts.push({
          id: last.id + 'z',
          sessionID: output.message.sessionID,
          messageID: output.message.id,
          type: 'text',
          synthetic: true,
          text: context,
        })
      } catch {
        // A plugin that throws would end the turn.
      }
    },
  }
}
`
}

/**
 * `input` sees what was typed; the context is added when the turn begins. Where this extension is
 * loaded twice, for the user and for the project, both get the same context object at one turn: the
 * first answers. Counting keeps that right in a pi that would hand out one object for several turns.
 */
function extensionText(command: string): string {
  return `// @ts-nocheck
// Written by skillrail hooks install; skillrail hooks uninstall takes it away.
import { spawn } from 'node:child_process'

${askLauncher(command, 'before_agent_start')}
const answered = (globalThis[Symbol.for('skillrail.answered')] ??= new WeakMap())

export default function (pi) {
  let typed
  const seen = new WeakMap()
  function isAnswered(turn) {
    if (turn === undefined) return false
    const count = (seen.get(turn) ?? 0) + 1
    seen.set(turn, count)
    if ((answered.get(turn) ?? 0) >= count) return true
    answered.set(turn, count)
    return false
  }
  pi.on('input', (event) => {
    typed = event.text
  })
  pi.on('before_agent_start', async (event, context) => {
    const prompt = typed ?? event.prompt
    typed = undefined
    if (isAnswered(context)) return
    const content = await ask({ prompt, cwd: context?.cwd ?? process.cwd() })
    if (!content) return
    return { message: { customType: 'skillrail', content, display: false } }
  })
}
`
}

/**
 * The part that our plugins for JavaScript clients share: asks the launcher, and gives undefined for
 * every failure, so that a prompt is never held up. Plain JavaScript for Node and Bun.
 */
function askLauncher(command: string, platform: string): string {
  return `const command = ${JSON.stringify(command)}

function ask(request) {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
    const timer = setTimeout(() => done(undefined), 10000)
    let output = ''
    function done(context) {
      clearTimeout(timer)
      child.kill()
      resolve(context)
    }
    child.on('error', () => done(undefined))
    child.stdin.on('error', () => {})
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text) => (output += text))
    child.on('close', () => {
      try {
        done(JSON.parse(output).additionalContext)
      } catch {
        done(undefined) // Nothing to add, or the hook could not run: the prompt continues as it is.
      }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: '${platform}', ...request }))
  })
}
`
}
