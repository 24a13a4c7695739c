import { askLauncher } from './_ask-launcher.ts'

/**
 * `chat.message` sees the text that a command expanded to; what was typed is in the event before
 * it. A part without an id fails the run, and parts are sorted by id: ours is made from the last.
 */
export function pluginText(command: string): string {
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
