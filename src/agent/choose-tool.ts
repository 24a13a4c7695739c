import { messageOf } from '#core/errors'
import { aiSdk } from './ai-sdk.ts'
import { isObject, type JsonValue } from '#core/json'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import type { ToolModel } from '#tools/call/do-request'
import { ToolError } from '#tools/errors'
import { resolveModel } from './resolve-model.ts'
import { wireName } from './tool.ts'

const instructions =
  'Choose the one tool that does what the user asks, and call it. Copy every value from the words of the user; invent none. If no tool fits, call none.'

/** Creates a chooser that lets a model call one of the offered tools. No tool is executed. */
export async function toolModel(
  name: string,
  { runtime, settings }: { runtime: Pick<Runtime, 'env'>; settings: Pick<Settings, 'agent'> },
): Promise<ToolModel> {
  const model = await resolveModel(name, { compatibleUrl: settings.agent.baseUrl, runtime })
  return {
    name,
    async choose(request, tools, signal) {
      await aiSdk()
      const { callModel } = await import('./loop/sdk.ts')
      const byName = new Map(tools.map((tool) => [wireName(tool.id), tool]))
      try {
        const { calls } = await callModel({
          model,
          instructions,
          messages: [{ role: 'user', content: request }],
          tools: byName,
          telemetry: { isEnabled: false },
          signal,
        })
        const [call] = calls
        const tool = byName.get(call?.name ?? '')
        if (!call || !tool) return undefined
        return { tool: tool.id, params: isObject<JsonValue>(call.input) ? call.input : {} }
      } catch (error) {
        signal.throwIfAborted()
        throw new ToolError({
          code: 'model-failed',
          message: `The model ${name} cannot be asked: ${messageOf(error)}`,
          hint: 'Without --model and tools.model the words of the request decide.',
          cause: error,
        })
      }
    },
  }
}
