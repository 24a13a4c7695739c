import { askLauncher } from './_ask-launcher.ts'

/** `input` sees what was typed; the context is added when the turn begins. */
export function extensionText(command: string): string {
  return `// @ts-nocheck
// Written by skillrail hooks install; skillrail hooks uninstall takes it away.
import { spawn } from 'node:child_process'

${askLauncher(command, 'before_agent_start')}
export default function (pi) {
  let typed
  pi.on('input', (event) => {
    typed = event.text
  })
  pi.on('before_agent_start', async (event, context) => {
    const prompt = typed ?? event.prompt
    typed = undefined
    const content = await ask({ prompt, cwd: context?.cwd ?? process.cwd() })
    if (!content) return
    return { message: { customType: 'skillrail', content, display: false } }
  })
}
`
}
