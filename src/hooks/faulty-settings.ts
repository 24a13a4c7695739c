import { resolve } from 'node:path'
import { messageOf } from '#core/errors'
import { mayBeMcpName } from '#core/mcp-names'
import { realPathOf } from '#core/read-files'
import { SettingsError } from '#core/settings-error'
import { safeLine } from '#core/text'
import type { ToolCall } from '#trigger/tool-call'
import { adapters } from './adapters.ts'
import { claimEvent, type HookRequest, platformOf } from './hook-call.ts'
import type { HookPayload } from './prompt.ts'

/**
 * With settings that have errors, the hook cannot say which references a call requires: it denies every
 * edit, read, command and MCP tool except reads and edits that repair the files. At a prompt, the model and the user are told.
 */
export function answerFaultySettings(
  error: SettingsError,
  request: HookRequest,
  payload: HookPayload,
): { stdout: string; denied?: true } | undefined {
  const { runtime, part } = request
  const platform = platformOf(request, payload)
  if (platform === undefined || part.number > 1) return undefined
  const adapter = adapters[platform]
  const places = error.diagnostics.map(({ path, line }) => `${path}${line ? `:${line}` : ''}`)
  // The messages of the diagnostics can quote a project, so the model gets the places alone.
  const fault = safeLine(`${error.message} See ${[...new Set(places)].slice(0, 5).join(', ')}.`)
  if (payload.event === 'before') {
    const { call, tool } = payload
    const isHarmless = call
      ? call.kind === 'skill' || isRepair(call, error, runtime.cwd)
      : !mayBeMcpName(tool, platform)
    if (isHarmless) return undefined
    const reason = `Skillrail denies this call. ${fault} Edit nothing else before these errors are fixed, and tell the user about them.`
    return { stdout: `${JSON.stringify(adapter.deny(reason))}\n`, denied: true }
  }
  if (payload.event !== 'prompt' || !claimEvent({ request, payload })) return undefined
  const context = `Skillrail adds no references. ${fault} Tell the user.`
  const answer = {
    ...adapter.answer(context, payload.eventName || adapter.events.prompt),
    ...adapter.tell?.(`Skillrail adds no references. ${faultText(error)}`),
  }
  return { stdout: `${JSON.stringify(answer)}\n` }
}

/** Whether a call reads or edits files with errors, and nothing else. */
function isRepair(call: ToolCall, { diagnostics }: SettingsError, cwd: string): boolean {
  const { paths, command } = call
  // A shell line with a patch can run other commands.
  if (command !== '') return false
  const faulty = diagnostics.flatMap(({ path }) => realPathOf(path) ?? [])
  const isFaulty = (path: string): boolean => faulty.includes(realPathOf(resolve(cwd, path)) ?? '')
  return paths.length > 0 && paths.every(isFaulty)
}

/** The message of an error, with its first place if it is about settings: clients show one line. */
export function faultText(error: unknown): string {
  if (!(error instanceof SettingsError)) return messageOf(error)
  const [first] = error.diagnostics
  if (!first) return error.message
  const place = [first.path, first.line].filter((one) => one !== undefined).join(':')
  return `${error.message} ${place}: ${first.message}`
}
