// The hook of Skillrail for OpenCode; skillrail hooks uninstall opencode removes an installed copy.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = 'skillrail hook opencode'
/** The directory of this file, for the command of a package. */
const own = fileURLToPath(new URL('.', import.meta.url))

/** Asks the hook; undefined for every failure, so that nothing is ever held up. */
function ask(request) {
  return new Promise((resolve) => {
    const env = { ...process.env, SKILLRAIL_PLUGIN: own }
    const child = spawn(command, { shell: true, env, stdio: ['pipe', 'pipe', 'ignore'] })
    const timer = setTimeout(() => done(undefined), 10000)
    let output = ''
    function done(answer) {
      clearTimeout(timer)
      child.kill()
      resolve(answer)
    }
    child.on('error', () => done(undefined))
    child.stdin.on('error', () => {})
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text) => (output += text))
    child.on('close', () => {
      try {
        done(JSON.parse(output))
      } catch {
        done(undefined) // Nothing to add, or the hook could not run.
      }
    })
    child.stdin.end(JSON.stringify(request))
  })
}

export const Skillrail = async ({ directory }) => {
  const typed = new Map()
  /** The parents of the sessions of subagents, which are told as agents of those. */
  const parents = new Map()
  const started = new Set()
  function askIn(sessionID, event, facts) {
    const parent = parents.get(sessionID)
    const who = parent ? { session_id: parent, agent_id: sessionID } : { session_id: sessionID }
    return ask({ hook_event_name: event, cwd: directory, ...who, ...facts })
  }
  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === 'session.created' && info?.parentID) parents.set(info.id, info.parentID)
      if (event.type === 'session.compacted') await askIn(sessionID, 'PostCompact', {})
    },
    'command.execute.before': async (event) => {
      typed.set(event.sessionID, ('/' + event.command + ' ' + event.arguments).trim())
    },
    // Sees the text that a command expanded to; what was typed is in the event before it.
    'chat.message': async (event, output) => {
      const { sessionID } = event
      const written = output.parts
        .filter((part) => part.type === 'text' && !part.synthetic)
        .map((part) => part.text)
        .join('\n')
      const prompt = typed.get(sessionID) ?? written
      typed.delete(sessionID)
      const contexts = []
      if (parents.has(sessionID) && !started.has(sessionID)) {
        started.add(sessionID)
        contexts.push(await askIn(sessionID, 'SubagentStart', {}))
      }
      const turn = { prompt, turn_id: output.message.id }
      contexts.push(await askIn(sessionID, 'UserPromptSubmit', turn))
      const text = contexts.flatMap((answer) => answer?.additionalContext ?? []).join('\n')
      const last = output.parts.at(-1)
      if (text === '' || last === undefined) return
      // A part without an id fails the run, and parts are sorted by id: ours is made from the last.
      output.parts.push({
        id: last.id + 'z',
        sessionID: output.message.sessionID,
        messageID: output.message.id,
        type: 'text',
        synthetic: true,
        text,
      })
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = await askIn(sessionID, 'PreToolUse', call)
      if (answer?.permissionDecision === 'deny') throw new Error(answer.permissionDecisionReason)
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = await askIn(sessionID, 'PostToolUse', call)
      if (answer?.additionalContext) output.output += '\n\n' + answer.additionalContext
    },
  }
}
