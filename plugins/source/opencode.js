// The hook of Skillrail for OpenCode; skillrail hooks uninstall opencode removes an installed copy.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = 'skillrail hooks run opencode'
/** The directory of this file, for the command of a package. */
const own = fileURLToPath(new URL('.', import.meta.url))

/** Longer than a check at the end of a turn may take in the hook itself. */
const turnEndMs = 40000

/** Asks the hook; undefined for every failure, so that nothing is ever held up. */
function ask(request, patienceMs = 10000) {
  return new Promise((resolve) => {
    const env = { ...process.env, SKILLRAIL_PLUGIN: own }
    const child = spawn(command, { shell: true, env, stdio: ['pipe', 'pipe', 'ignore'] })
    const timer = setTimeout(() => done(undefined), patienceMs)
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

export const Skillrail = async ({ directory, client }) => {
  const typed = new Map()
  /** The parents of the sessions of subagents, which are told as agents of those. */
  const parents = new Map()
  const started = new Set()
  const ended = new Set()
  /** Sessions in which a rail has given the agent a step. */
  const railed = new Set()
  function askIn(sessionID, event, facts, patienceMs) {
    const parent = parents.get(sessionID)
    const who = parent ? { session_id: parent, agent_id: sessionID } : { session_id: sessionID }
    return ask({ hook_event_name: event, cwd: directory, ...who, ...facts }, patienceMs)
  }
  /**
   * OpenCode waits for nothing at the end of a turn: a prompt that comes too late is lost. So the turn is
   * continued at once, and what the rail says takes the place of this text in every request to the model.
   */
  const placeholder = 'Skillrail checks the step.'
  /** What the rail said, by the message that has its place; undefined until it was asked. */
  const said = new Map()
  async function atTurnEnd({ id, sessionID, type, reason }) {
    if (type !== 'step-finish' || reason !== 'stop' || !railed.has(sessionID)) return
    if (ended.has(id)) return
    ended.add(id)
    const parts = [{ type: 'text', text: placeholder }]
    await client.session.promptAsync({ path: { id: sessionID }, body: { parts } })
  }
  async function turnEndText(sessionID) {
    const answer = await askIn(sessionID, 'Stop', {}, turnEndMs)
    noteRail(sessionID, answer?.rail ?? false)
    return answer?.decision === 'block' ? answer.reason : 'Nothing is left to do. End your turn.'
  }
  function noteRail(sessionID, isOpen) {
    if (isOpen === true) railed.add(sessionID)
    if (isOpen === false) railed.delete(sessionID)
  }
  return {
    /** Only a user calls a command: `/rail approve`. */
    config: async (configuration) => {
      configuration.command ??= {}
      configuration.command.rail ??= {
        description: 'Decide about the chain that is open in this session',
        template:
          'Follow the context that Skillrail added to this prompt. If it added none, tell the user that no chain is open in this session.',
      }
    },
    event: async ({ event }) => {
      const { info, part, sessionID } = event.properties ?? {}
      if (event.type === 'message.part.updated' && part) await atTurnEnd(part)
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
      if (written === placeholder) {
        said.set(output.message.id, undefined)
        return
      }
      const prompt = typed.get(sessionID) ?? written
      typed.delete(sessionID)
      const contexts = []
      if (parents.has(sessionID) && !started.has(sessionID)) {
        started.add(sessionID)
        contexts.push(await askIn(sessionID, 'SubagentStart', {}))
      }
      const turn = { prompt, turn_id: output.message.id }
      const answer = await askIn(sessionID, 'UserPromptSubmit', turn)
      contexts.push(answer)
      noteRail(sessionID, answer?.rail)
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
    'experimental.chat.messages.transform': async (_, { messages }) => {
      for (const { info, parts } of messages) {
        if (!said.has(info.id)) continue
        if (!said.get(info.id)) said.set(info.id, await turnEndText(info.sessionID))
        for (const part of parts) if (part.text === placeholder) part.text = said.get(info.id)
      }
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = await askIn(sessionID, 'PreToolUse', call)
      noteRail(sessionID, answer?.rail)
      if (answer?.permissionDecision === 'deny') throw new Error(answer.permissionDecisionReason)
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, output) => {
      // Only an MCP tool has its result as a list of parts.
      const result = Array.isArray(output.content) ? { tool_response: output.content } : {}
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID, ...result }
      const answer = await askIn(sessionID, 'PostToolUse', call)
      noteRail(sessionID, answer?.rail)
      const text = answer?.additionalContext
      if (!text) return
      // The result of an MCP tool is a list of parts.
      if (Array.isArray(output.content)) output.content.push({ type: 'text', text })
      else output.output += '\n\n' + text
    },
  }
}
