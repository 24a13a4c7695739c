import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach } from 'vitest'
import type { ModelObject } from '../../../src/agent/types.ts'
import { type ReadRequest, readRequest } from '../../model-server/read-request.ts'
import { type ModelServer, type Script, startModelServer } from '../../model-server/server.ts'

/** Every protocol that a provider package speaks to the mock server. */
export const protocols: readonly (readonly [
  string,
  (url: string, model?: string) => ModelObject,
])[] = [
  [
    'chat completions',
    (url, model = 'm') =>
      createOpenAICompatible({ name: 'local', baseURL: `${url}/v1`, includeUsage: true })(model),
  ],
  [
    "OpenAI's chat completions",
    (url, model = 'm') => createOpenAI({ apiKey: 'none', baseURL: `${url}/v1` }).chat(model),
  ],
  [
    'responses',
    (url, model = 'm') => createOpenAI({ apiKey: 'none', baseURL: `${url}/v1` }).responses(model),
  ],
  [
    'messages',
    (url, model = 'm') => createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })(model),
  ],
  [
    'generate content',
    (url, model = 'm') =>
      createGoogleGenerativeAI({ apiKey: 'none', baseURL: `${url}/v1beta` })(model),
  ],
]

export interface Served {
  server: ModelServer
  /** What the model was told, call by call. */
  told(): ReadRequest[]
}

/** A mock server for one test. */
export async function serve(script: Script): Promise<Served> {
  const server = await startModelServer(script)
  open.push(server)
  return { server, told: () => server.prompts().map(readRequest) }
}

const open: ModelServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
