import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, type LanguageModel, streamText, tool, type ToolSet } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { readRequest } from './read-request.ts'
import { type ModelServer, type Script, startModelServer } from './server.ts'

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const providers: Record<string, (url: string) => LanguageModel> = {
  'chat completions': (url) =>
    createOpenAICompatible({ name: 'local', baseURL: `${url}/v1`, includeUsage: true })('m'),
  responses: (url) => createOpenAI({ apiKey: 'none', baseURL: `${url}/v1` }).responses('m'),
  messages: (url) => createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })('m'),
}

const tools: ToolSet = {
  add: tool({ inputSchema: jsonSchema({ type: 'object', properties: { a: { type: 'number' } } }) }),
}

const usage = { input: 90, output: 12, cached: 40 }
const script: Script = [
  {
    text: 'I will add, twice.',
    calls: [
      { name: 'add', input: { a: 1 } },
      { name: 'add', input: { a: 2 } },
    ],
    usage,
  },
]

describe.each(Object.entries(providers))('the mock model through %s', (_name, provider) => {
  async function started(script: Script): Promise<LanguageModel> {
    server = await startModelServer(script)
    return provider(server.url)
  }

  it('answers with text, parallel calls and usage, whole and as a stream', async () => {
    const model = await started(script)
    const whole = await generateText({ model, prompt: 'Add.', tools })
    const streamed = streamText({ model, prompt: 'Add.', tools })
    const pieces: string[] = []
    for await (const piece of streamed.textStream) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(3)
    for (const result of [whole, streamed]) {
      expect(await result.text).toBe('I will add, twice.')
      const calls = await result.toolCalls
      expect(calls.map(({ input }) => input)).toEqual([{ a: 1 }, { a: 2 }])
      expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(2)
      expect(await result.finishReason).toBe('tool-calls')
      const { inputTokens, outputTokens, inputTokenDetails } = await result.usage
      expect({ inputTokens, outputTokens, cached: inputTokenDetails.cacheReadTokens }).toEqual({
        inputTokens: 90,
        outputTokens: 12,
        cached: 40,
      })
    }
    expect(server?.counted()).toMatchObject({ answers: 2, input: 180, output: 24, cached: 80 })
  })

  it('keeps what it was sent in one form', async () => {
    const model = await started(['Done.'])
    await generateText({
      model,
      instructions: 'Be brief.',
      tools,
      messages: [
        { role: 'user', content: 'Add.' },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1 } }],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'add',
              output: { type: 'text', value: 'one' },
            },
          ],
        },
      ],
    })
    const [request] = server?.prompts() ?? []
    if (request === undefined) throw new Error('nothing was asked')
    expect(readRequest(request)).toMatchObject({
      model: 'm',
      system: 'Be brief.',
      tools: ['add'],
      messages: [
        { role: 'user', text: 'Add.' },
        { role: 'assistant', calls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }] },
        { role: 'tool', results: [{ id: 'c1', text: 'one' }] },
      ],
    })
  })

  it('fails as it is told to, and is asked again', async () => {
    const model = await started([
      { error: { status: 429, retryAfterMs: 1 } },
      { error: { status: 500, retryAfterMs: 1 } },
      'Here I am.',
    ])
    expect((await generateText({ model, prompt: 'Hello.' })).text).toBe('Here I am.')
    expect(server?.prompts()).toHaveLength(3)
    expect(server?.counted().answers).toBe(1)
  })

  it('breaks off in the middle, and counts nothing', async () => {
    const model = await started([{ text: 'one two three four', cutAfter: 4 }])
    const whole = generateText({ model, prompt: 'Count.', maxRetries: 0 })
    await expect(whole).rejects.toThrow('process successful response')
    let said = ''
    const { stream } = streamText({ model, prompt: 'Count.', maxRetries: 0, onError: () => {} })
    const streamed = (async () => {
      for await (const part of stream) if (part.type === 'text-delta') said += part.text
    })()
    await streamed.catch(() => undefined)
    expect('one two three four'.startsWith(said)).toBe(true)
    expect(said).not.toBe('one two three four')
    expect(server?.counted().answers).toBe(0)
  })
})
