import { askLauncher } from './_ask-launcher.ts'

/**
 * `input` sees what was typed; the context is added when the turn begins. Where this extension is
 * loaded twice, for the user and for the project, both get the same context object at one turn: the
 * first answers. Counting keeps that right in a pi that would hand out one object for several turns.
 */
export function extensionText(command: string): string {
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
