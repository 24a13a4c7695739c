// @ts-nocheck
// The hook of Skillrail for pi; skillrail hooks uninstall pi removes an installed copy.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const command = 'skillrail hooks run pi'
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

// A package with skills of its own answers for them alone; that of Skillrail answers for all.
const servesOwn = existsSync(`${own}skills`) && !existsSync(`${own}serves-all-skills`)
const key = Symbol.for(`skillrail.answered ${servesOwn ? own : ''}`)
const answered = (globalThis[key] ??= new WeakMap())

function askIn(context, event, facts, patienceMs) {
  const session = context?.sessionManager?.getSessionId?.()
  const cwd = context?.cwd ?? process.cwd()
  return ask({ hook_event_name: event, session_id: session, cwd, ...facts }, patienceMs)
}

/**
 * Where this extension is loaded twice, for the user and for the project, both get the same context
 * object at one turn: the first answers. Counting keeps that right for an object of several turns.
 */
export default function (pi) {
  let typed
  let source
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
    source = event.source
  })
  pi.on('before_agent_start', async (event, context) => {
    const prompt = typed ?? event.prompt
    const from = source
    typed = undefined
    source = undefined
    if (isAnswered(context)) return
    const answer = await askIn(context, 'UserPromptSubmit', { prompt, source: from ?? 'extension' })
    const content = answer?.additionalContext
    if (content) return { message: { customType: 'skillrail', content, display: false } }
  })
  pi.on('tool_call', async ({ toolName, input, toolCallId }, context) => {
    const call = { tool_name: toolName, tool_input: input, tool_use_id: toolCallId }
    const answer = await askIn(context, 'PreToolUse', call)
    const reason = answer?.permissionDecisionReason
    if (answer?.permissionDecision === 'deny') return { block: true, reason }
    if (answer?.permissionDecision !== 'ask') return
    // Without a terminal nobody can answer, and an error is not a yes.
    const isAgreed = await context?.ui?.confirm?.('Skillrail', reason).catch(() => false)
    if (isAgreed !== true) return { block: true, reason: `The user did not agree. ${reason}` }
  })
  pi.on('tool_result', async ({ toolName, input, toolCallId, content, isError }, context) => {
    if (isError) return
    const call = { tool_name: toolName, tool_input: input, tool_use_id: toolCallId }
    const answer = await askIn(context, 'PostToolUse', call)
    const text = answer?.additionalContext
    if (text) return { content: [...content, { type: 'text', text }] }
  })
  pi.on('agent_end', async (event, context) => {
    if (isAnswered(event)) return
    // After an interrupt or an error of the service the agent is left alone.
    const last = event.messages?.findLast?.((message) => message.role === 'assistant')
    if (last?.stopReason === 'aborted' || last?.stopReason === 'error') return
    const answer = await askIn(context, 'Stop', {}, turnEndMs)
    if (answer?.decision === 'block') pi.sendUserMessage(answer.reason, { deliverAs: 'followUp' })
  })
  pi.on('session_compact', async (_, context) => {
    await askIn(context, 'PostCompact', {})
  })
}
